"""What `concatmt doctor` says of an installation: versions, hardware, kernels, extras, cache.

Everything is asked of the libraries themselves at that moment. Does not mend anything.
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
# Of the processor: what makes int8 fast.
INT8_FLAGS = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp")


@dataclass(frozen=True, slots=True)
class Fact:
    """One line; with a problem, what to do about it."""

    name: str
    value: str
    problem: str | None = None

    def __str__(self) -> str:
        mark = "" if self.problem is None else f"\n{'':13}  PROBLEM: {self.problem}"
        return f"{self.name:13}  {self.value}{mark}"


def examine() -> list[Fact]:
    """All facts, in the order in which they are shown."""
    return [*_versions(), *_hardware(), *_kernels(), *_extras(), _cache()]


def _versions() -> Iterator[Fact]:
    yield Fact("concatmt", f"{concatmt.__version__} in {Path(concatmt.__file__).parent}")
    yield Fact("Python", f"{platform.python_version()} ({sys.executable}), {platform.platform()}")
    needed = [one for one in requirements() if one.extra is None]
    if not needed:
        yield Fact("libraries", "unknown: this package was not installed by pip")
        return
    problems = [problem for one in needed if (problem := one.problem) is not None]
    versions = ", ".join(f"{one.name} {one.installed or 'MISSING'}" for one in needed)
    yield Fact("libraries", versions, "; ".join(problems) or None)


def _hardware() -> Iterator[Fact]:
    found = Hardware.here()
    memory = "" if found.memory is None else f", {found.memory / GIGA:.1f} GB of memory"
    cores = f"{found.cores} core{'s' if found.cores > 1 else ''}"
    yield Fact("processor", f"{found.processor}, {cores}{memory}")
    gpus = ", ".join(f"{one.name} ({one.memory / GIGA:.1f} GB)" for one in found.gpus)
    yield Fact("GPU", gpus or "none that PyTorch sees: everything runs on the processor")


def _kernels() -> Iterator[Fact]:
    import torch

    from concatmt.model import products

    products.library()  # measured now, if it never was
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
    """Instructions that the processor announces."""
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
    """A library that concatmt asks for, always or for an extra."""

    name: str
    at_least: str
    extra: str | None

    @property
    def installed(self) -> str | None:
        """Its version here."""
        try:
            return importlib.metadata.version(self.name)
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def problem(self) -> str | None:
        """What is wrong with it."""
        found = self.installed
        if found is None:
            return f"{self.name} is missing: pip install '{self.name}>={self.at_least}'"
        if _numbers(found) < _numbers(self.at_least):
            return f"{self.name} {found} is too old: pip install '{self.name}>={self.at_least}'"
        return None


def requirements() -> list[Requirement]:
    """What the installed package asks for; nothing if it was not installed."""
    try:
        lines = importlib.metadata.requires("concatmt") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        name, extra = REQUIREMENT.match(line), EXTRA.search(line)
        if name is not None:
            found.append(Requirement(name[1], name[2] or "0", extra[1] if extra else None))
    return found


def _extras() -> Iterator[Fact]:
    wanted: dict[str, list[Requirement]] = {}
    for one in requirements():
        if one.extra is not None and one.extra not in DEVELOPMENT:
            wanted.setdefault(one.extra, []).append(one)
    for extra, libraries in sorted(wanted.items()):
        missing = [one.name for one in libraries if one.installed is None]
        old = [one.problem for one in libraries if one.installed and one.problem]
        if missing:
            value = f"not installed ({', '.join(missing)}): pip install 'concatmt[{extra}]'"
        else:
            value = ", ".join(f"{one.name} {one.installed}" for one in libraries)
        yield Fact(f"[{extra}]", value, "; ".join(filter(None, old)) or None)


def _cache() -> Fact:
    from concatmt.model.products import cache_folder

    folder = cache_folder()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if there.is_dir() and os.access(there, os.W_OK):
        return Fact("cache", f"{folder}, writable")
    problem = (
        f"{there} cannot be written to, so kernels are measured every time: mend that, or set"
        " XDG_CACHE_HOME to another folder"
    )
    return Fact("cache", str(folder), problem)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version starts with, as far as they can be compared."""
    start = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in start[0].split(".")] if start else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
