"""`concatmt doctor`: examines versions, hardware, kernels, extras and the cache.

Asks the libraries themselves when it is run. Does not fix anything.
"""

import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import concatmt
from concatmt.setup.hardware import Hardware

REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?(?:>=([0-9.]+))?")
EXTRA = re.compile(r"extra == ['\"]([^'\"]+)['\"]")
DEVELOPMENT = ("dev", "docs", "browser")  # extras that users need not have
GIGA = 1e9
# Processor flags that make int8 fast.
INT8_FLAGS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp")


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the report; a problem comes with what to do about it."""

    name: str
    value: str
    problem: str | None = None

    def __str__(self) -> str:
        mark = "" if self.problem is None else f"\n{'':13}  PROBLEM: {self.problem}"
        return f"{self.name:13}  {self.value}{mark}"


def examine() -> list[Fact]:
    """All facts, in the order of the report."""
    return [*_versions(), *_hardware(), *_kernels(), *_extras(), _cache()]


def _versions() -> Iterator[Fact]:
    yield Fact("concatmt", f"{concatmt.__version__} in {Path(concatmt.__file__).parent}")
    yield Fact("Python", f"{platform.python_version()} ({sys.executable}), {platform.platform()}")
    needed = [requirement for requirement in requirements() if requirement.extra is None]
    if not needed:
        yield Fact("libraries", "unknown: this package was not installed by pip")
        return
    problems = [problem for requirement in needed if (problem := requirement.problem) is not None]
    versions = ", ".join(
        f"{requirement.name} {requirement.installed or 'MISSING'}" for requirement in needed
    )
    yield Fact("libraries", versions, "; ".join(problems) or None)


def _hardware() -> Iterator[Fact]:
    hardware = Hardware.here()
    memory = "" if hardware.memory is None else f", {hardware.memory / GIGA:.1f} GB of memory"
    cores = f"{hardware.cores} core{'s' if hardware.cores > 1 else ''}"
    yield Fact("processor", f"{hardware.processor}, {cores}{memory}")
    gpus = ", ".join(f"{gpu.name} ({gpu.memory / GIGA:.1f} GB)" for gpu in hardware.gpus)
    yield Fact("GPU", gpus or "none that PyTorch sees: everything runs on the processor")


def _kernels() -> Iterator[Fact]:
    import torch

    from concatmt.model import products

    products.library()  # measures it now if that was never done
    yield Fact("float32", f"by {products.described()}")
    capability = torch.backends.cpu.get_cpu_capability()
    if not products.has_onednn():
        problem = "this PyTorch has no oneDNN; leave out --int8"
        yield Fact("int8", "not possible", problem)
    else:
        fast = next((flag for flag in INT8_FLAGS if flag in _flags()), None)
        speed = f"fast ({fast})" if fast else "slower than it could be: no VNNI"
        yield Fact("int8", f"by oneDNN, {speed}; instructions in use: {capability}")
    threads = os.environ.get("OMP_NUM_THREADS")
    of_variable = f", by OMP_NUM_THREADS={threads}" if threads else ""
    yield Fact("threads", f"{torch.get_num_threads()} for an operation{of_variable}")


def _flags(processor: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Instruction sets that the processor announces."""
    if not processor.is_file():
        return frozenset()
    with processor.open(encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(value.split())
    return frozenset()


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library that concatmt requires, always or for an extra."""

    name: str
    at_least: str
    extra: str | None

    @property
    def installed(self) -> str | None:
        """The installed version."""
        try:
            return importlib.metadata.version(self.name)
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def problem(self) -> str | None:
        """What is wrong with it, if anything."""
        installed = self.installed
        if installed is None:
            return f"{self.name} is missing: pip install '{self.name}>={self.at_least}'"
        if _numbers(installed) < _numbers(self.at_least):
            return f"{self.name} {installed} is too old: pip install '{self.name}>={self.at_least}'"
        return None


def requirements() -> list[Requirement]:
    """The requirements of the installed package; none if it was not installed by pip."""
    try:
        lines = importlib.metadata.requires("concatmt") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    asked = []
    for line in lines:
        name, extra = REQUIREMENT.match(line), EXTRA.search(line)
        if name is not None:
            asked.append(Requirement(name[1], name[2] or "0", extra[1] if extra else None))
    return asked


def _extras() -> Iterator[Fact]:
    wanted: dict[str, list[Requirement]] = {}
    for requirement in requirements():
        if requirement.extra is not None and requirement.extra not in DEVELOPMENT:
            wanted.setdefault(requirement.extra, []).append(requirement)
    for extra, libraries in sorted(wanted.items()):
        missing = [requirement.name for requirement in libraries if requirement.installed is None]
        old = [
            requirement.problem
            for requirement in libraries
            if requirement.installed and requirement.problem
        ]
        if missing:
            value = f"not installed ({', '.join(missing)}): pip install 'concatmt[{extra}]'"
        else:
            value = ", ".join(
                f"{requirement.name} {requirement.installed}" for requirement in libraries
            )
        yield Fact(f"[{extra}]", value, "; ".join(filter(None, old)) or None)


def _cache() -> Fact:
    from concatmt.model.products import cache_folder

    folder = cache_folder()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if there.is_dir() and os.access(there, os.W_OK):
        return Fact("cache", f"{folder}, writable")
    problem = (
        f"{there} cannot be written to, so kernels are measured every time: fix that, or set"
        " XDG_CACHE_HOME to another folder"
    )
    return Fact("cache", str(folder), problem)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, for comparison."""
    start = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in start[0].split(".")] if start else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
