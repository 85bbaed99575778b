"""Chooses the library that multiplies float32 matrices on the CPU: BLAS (MKL on x86) or oneDNN.

PyTorch uses MKL, which is half as fast as oneDNN on some processors not made by Intel.
The faster one is measured once per machine and kept in the user's cache directory. Both are in
PyTorch. Knows processors, not models.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from concatmt.errors import UserError
from concatmt.files import write_json
from concatmt.processor import avoid_missing_tiles, name_of_processor

Library = Literal["blas", "onednn"]
VARIABLE = "CONCATMT_PRODUCTS"  # auto, or the name of a library
MEASURED = "products.json"
# Rows, inputs and outputs: a step of a beam search, many tokens at once, the output layer.
SHAPES = ((64, 512, 2048), (512, 256, 1024), (128, 512, 4096))
ROUNDS = 5
MARGIN = 1.05  # how many times as fast oneDNN must be to replace the default
PACK_ROWS = 256  # rows to pack weights for; oneDNN packs them alike from 4 rows on

_fixed: Library | None = None  # by `using`
_known: dict[int, Library] = {}  # by number of threads


def library(threads: int | None = None) -> Library:
    """The library for this many threads, by default as many as PyTorch uses now."""
    if _fixed is not None:
        return _fixed
    wish = os.environ.get(VARIABLE, "auto")
    if wish not in ("auto", *get_args(Library)):
        raise UserError(f"{VARIABLE}={wish}: must be auto, {' or '.join(get_args(Library))}")
    if not has_onednn():
        if wish == "onednn":
            raise UserError(f"{VARIABLE}=onednn: this PyTorch has no oneDNN; use auto or blas")
        return "blas"
    if wish != "auto":
        return cast("Library", wish)
    threads = threads or torch.get_num_threads()
    if threads not in _known:
        _known[threads] = _recalled(threads) or _measured(threads)
    return _known[threads]


def described() -> str:
    """What was chosen so far in this process, and why, as text."""
    chosen = {_fixed} if _fixed else set(_known.values())
    wish = os.environ.get(VARIABLE, "auto")
    if not chosen and wish != "auto":
        return f"{wish} ({VARIABLE})"
    reason = "a training's own" if _fixed else f"measured once: {_file()}"
    return f"{' and '.join(sorted(chosen)) or 'no library yet'} ({reason})"


@cache
def has_onednn() -> bool:
    """Whether this PyTorch can multiply by oneDNN; makes it safe to use."""
    avoid_missing_tiles()
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@contextmanager
def using(name: Library) -> Iterator[None]:
    """Use this library inside the block."""
    global _fixed
    before, _fixed = _fixed, name
    try:
        yield
    finally:
        _fixed = before


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W' + b: (..., in), (out, in), (out,) -> (..., out), with gradients."""
    if not by_onednn(x):
        return F.linear(x, weight, bias)
    y: Tensor = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return y


def by_onednn(x: Tensor) -> bool:
    """Whether products of `x` go to oneDNN."""
    return (
        x.dtype == torch.float32
        and x.device.type == "cpu"
        and x.numel() > 0
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cpu")
        and library() == "onednn"
    )


def multiply(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none"
) -> Tensor:
    """x W' + b by oneDNN, or relu or swish of it, no gradients. The weight may be packed."""
    y: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, activation, [], "")
    return y


def multiply_onto(residual: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """residual + x W' + b by oneDNN, in the shape of `residual`, without gradients."""
    y: Tensor = torch.ops.mkldnn._linear_pointwise.binary(x, residual, weight, bias, "add")
    return y


def packed(weight: Tensor) -> Tensor:
    """A weight (out, in) packed for oneDNN, only for `multiply`."""
    y: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), PACK_ROWS)
    return y


PRODUCTS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (F.linear, multiply)


class _Linear(torch.autograd.Function):
    """x W' + b and its gradients by oneDNN."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return multiply(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        slope = slope.contiguous()
        slopes = slope.flatten(0, -2)
        of_x = multiply(slope, weight.t()) if ctx.needs_input_grad[0] else None
        of_weight = inner(x.flatten(0, -2), slopes) if ctx.needs_input_grad[1] else None
        of_bias = slopes.sum(dim=0) if ctx.has_bias and ctx.needs_input_grad[2] else None
        return of_x, of_weight, of_bias


def inner(x: Tensor, slopes: Tensor) -> Tensor:
    """(N, in), (N, out) -> (out, in) slopes' x by oneDNN."""
    # oneDNN transposes the first factor in memory: make it the smaller one, and transpose the
    # result.
    if x.shape[1] < slopes.shape[1]:
        return multiply(x.t(), slopes.t()).t().contiguous()
    return multiply(slopes.t(), x.t())


def _measured(threads: int) -> Library:
    """Measure and remember the faster library."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ratio = _times_as_fast()
    finally:
        torch.set_num_threads(before)
    faster: Library = "onednn" if ratio > MARGIN else "blas"
    _remember(threads, faster, ratio)
    return faster


@torch.inference_mode()
def _times_as_fast() -> float:
    """How many times as fast as BLAS oneDNN is; takes the best rounds, as others may compute."""
    generator = torch.Generator().manual_seed(1)
    sums = [0.0, 0.0]
    for rows, inputs, outputs in SHAPES:
        x = torch.randn(rows, inputs, generator=generator)
        weight = torch.randn(outputs, inputs, generator=generator)
        best = [float("inf")] * 2
        for _ in range(ROUNDS + 1):
            for i, product in enumerate(PRODUCTS):
                start = time.perf_counter()
                product(x, weight)
                best[i] = min(best[i], time.perf_counter() - start)
        sums = [before + seconds for before, seconds in zip(sums, best, strict=True)]
    return sums[0] / sums[1]


def cache_folder() -> Path:
    """The cache folder of this user."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "concatmt"


def _file() -> Path:
    return cache_folder() / MEASURED


def _key(threads: int) -> str:
    processor = f"{name_of_processor()}, {torch.backends.cpu.get_cpu_capability()}"
    return f"{processor}; torch {torch.__version__}; threads: {threads}"


def _entries() -> dict[str, Any]:
    """Earlier measurements; a damaged file counts as empty."""
    try:
        if not _file().is_file():
            return {}
        entries = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):  # the last: no home folder
        return {}
    return entries if isinstance(entries, dict) else {}


def _recalled(threads: int) -> Library | None:
    entry = _entries().get(_key(threads))
    name = entry.get("library") if isinstance(entry, dict) else None
    return name if name in get_args(Library) else None


def _remember(threads: int, name: Library, ratio: float) -> None:
    """Keep a measurement. The file is replaced atomically; one of two processes may lose."""
    entry = {"library": name, "onednn_times_as_fast": round(ratio, 2)}
    with suppress(OSError, UserError, RuntimeError):  # else it is measured again next time
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_json(_file(), _entries() | {_key(threads): entry})
