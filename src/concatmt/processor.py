"""Examines the processor, and keeps oneDNN from using instructions that it lacks.

oneDNN is torch's library for int8, bfloat16 and, where it is faster, float32. Some virtual machines
announce AMX but have no tile for it: its first product in int8 or bfloat16 kills the process by an
illegal instruction (oneDNN's issue 5689, fixed by its pull request 5801 in the same way; torch
2.13 has an older oneDNN). Runs before oneDNN's first product; does not know torch.
"""

import ctypes
import mmap
import os
import platform
from pathlib import Path

LIMIT = "ONEDNN_MAX_CPU_ISA"
BEST_WITHOUT_TILES = "AVX512_CORE_FP16"  # the level below AMX
# eax = number of tile palettes: CPUID leaf 0x1d, sub-leaf 0. No library reads that.
READ_PALETTES = bytes.fromhex("53 b81d000000 31c9 0fa2 5b c3")


def avoid_missing_tiles(processor: Path = Path("/proc/cpuinfo")) -> None:
    """Limit oneDNN if this processor announces tiles and has none; keep a user's limit."""
    if LIMIT not in os.environ and _announces_tiles(processor) and _palettes() == 0:
        os.environ[LIMIT] = BEST_WITHOUT_TILES


def name_of_processor(processor: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name and model, as far as the system reports them."""
    if not processor.is_file():
        return platform.processor() or platform.machine()
    wanted = ("model name", "cpu family", "model", "stepping", "CPU implementer", "CPU part")
    facts: dict[str, str] = {}
    with processor.open(encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() in wanted:
                facts.setdefault(name.strip(), value.strip())
    return " ".join(facts[name] for name in wanted if name in facts) or platform.machine()


def multiplies_bfloat16(processor: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this processor has instructions for products in bfloat16, as far as it reports."""
    return _announces("avx512_bf16", processor)


def _announces_tiles(processor: Path) -> bool:
    return _announces("amx_tile", processor)


def _announces(flag: str, processor: Path) -> bool:
    if platform.machine() != "x86_64" or not processor.exists():
        return False
    with processor.open(encoding="utf-8") as lines:
        return any(flag in line.split() for line in lines if line.startswith("flags"))


def _palettes() -> int | None:
    """Number of tile palettes; None where the system does not let us read it."""
    access = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=access)
    except OSError:
        return None
    code.write(READ_PALETTES)
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    palettes: int = ctypes.CFUNCTYPE(ctypes.c_uint32)(start)()
    return palettes
