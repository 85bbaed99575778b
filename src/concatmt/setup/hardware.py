"""Finds the cores, memory and GPUs that this process may use. Does not know what for."""

import os
from dataclasses import dataclass
from pathlib import Path

from concatmt.processor import name_of_processor

LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that PyTorch sees."""

    name: str
    memory: int  # bytes


@dataclass(frozen=True, slots=True)
class Hardware:
    """The hardware to compute with."""

    processor: str
    cores: int
    memory: int | None  # bytes; None where the system does not say
    gpus: tuple[Gpu, ...]

    @classmethod
    def here(cls) -> "Hardware":
        """This machine, as far as this process may use it."""
        return cls(name_of_processor(), usable_cores(), usable_memory(), _gpus())


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usable_memory(limits: tuple[Path, ...] = LIMITS) -> int | None:
    """Bytes of the machine, or of the container if that is less."""
    amounts = []
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        amounts.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in limits:
        try:
            amounts.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue  # no such limit, or it says "max"
    return min(amounts, default=None)


def _gpus() -> tuple[Gpu, ...]:
    import torch

    if not torch.cuda.is_available():
        return ()
    properties = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return tuple(Gpu(gpu.name, gpu.total_memory) for gpu in properties)
