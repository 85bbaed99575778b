"""The decoder's cache of self-attention keys and values, for decoding step by step.

Columns are appended; which hypothesis a column belongs to is known to the caller (the `visible`
mask of `Transformer.decode`), so nothing is copied when a beam is reordered. The caller may
occasionally drop columns that nobody will see, or give rows to other windows.
"""

import math
import threading
from collections.abc import Callable

import torch
from torch import Tensor


class Slabs:
    """Memory for slabs, lent to one cache after another, as allocating takes time."""

    def __init__(self) -> None:
        self._free: list[Tensor] = []
        self._lock = threading.Lock()

    def lend(self, like: Tensor, size: int) -> Tensor:
        """A buffer of at least `size` elements, not initialised."""
        with self._lock:
            fitting = [
                i
                for i, buffer in enumerate(self._free)
                if len(buffer) >= size and buffer.dtype == like.dtype
            ]
            if fitting:
                return self._free.pop(min(fitting, key=lambda i: len(self._free[i])))
            # Drop one that is too small: there are never more than were lent at once.
            self._free = self._free[1:]
        return like.new_empty(size)

    def take_back(self, buffer: Tensor) -> None:
        """Take back a buffer that nothing uses any more."""
        with self._lock:
            self._free.append(buffer)


class Cache:
    """For every decoder block one slab of keys and values, (2, B, H, capacity, D / H)."""

    def __init__(self, layers: int, capacity: int = 64, slabs: Slabs | None = None) -> None:
        """`capacity`: columns to make room for at first; the slabs grow when they are full."""
        self.length = 0  # columns in use
        self._slabs: list[Tensor | None] = [None] * layers
        self._buffers: list[Tensor | None] = [None] * layers  # in which the slabs are
        self._capacity = capacity
        self._lender = slabs or Slabs()

    def release(self) -> None:
        """Release the memory and empty the cache."""
        self.length = 0
        for layer in range(len(self._slabs)):
            self._replace(layer, None, None)

    def writer(self, layer: int) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """A function that appends new keys and values of `layer` and returns all of them."""

        def write(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            start, end = self.length, self.length + keys.shape[2]
            slab = self._room(layer, keys, start, end)
            slab[0, :, :, start:end] = keys
            slab[1, :, :, start:end] = values
            return slab[0, :, :, :end], slab[1, :, :, :end]

        return write

    def advance(self, tokens: int) -> None:
        """Count the columns that all layers have written."""
        self.length += tokens

    def select(self, rows: Tensor) -> None:
        """Keep the given rows (windows), in that order; a row may be given more than once."""
        for layer, slab in enumerate(self._slabs):
            if slab is not None:
                self._select(layer, slab, rows)

    def put(self, rows: Tensor, other: "Cache") -> None:
        """Replace `rows` by the rows of `other`; columns that it lacks have any content."""
        for layer, theirs in enumerate(other._slabs):
            assert theirs is not None
            slab = self._room(layer, theirs[0], self.length, other.length)
            # These columns are never seen in the other rows, but they must be finite numbers.
            slab[:, :, :, self.length : other.length] = 0
            columns = slab[:, :, :, : other.length]
            columns.index_copy_(1, rows, theirs[:, :, :, : other.length])
        self.length = max(self.length, other.length)

    def keep(self, columns: Tensor) -> None:
        """Keep some columns of each row, (B, C) in that order: those that may still be seen."""
        width = columns.shape[1]
        for slab in self._slabs:
            if slab is not None:
                for row, of_row in zip(slab.unbind(1), columns, strict=True):
                    row[:, :, :width] = row[:, :, : self.length].index_select(2, of_row)
        self.length = width

    def _select(self, layer: int, slab: Tensor, rows: Tensor) -> None:
        """A copy with as much room as before, so that the next token does not copy it again."""
        buffer, fresh = self._lend(slab, (2, len(rows), *slab.shape[2:]))
        used = slab[:, :, :, : self.length]
        torch.index_select(used, 1, rows, out=fresh[:, :, :, : self.length])
        self._replace(layer, buffer, fresh)

    def _room(self, layer: int, like: Tensor, start: int, end: int) -> Tensor:
        """The slab of `layer` with room for `end` columns; a new one fits keys such as `like`."""
        slab = self._slabs[layer]
        if slab is not None and slab.shape[3] >= end:
            return slab
        rows, heads, _, width = like.shape if slab is None else slab[0].shape
        shape = (2, rows, heads, max(self._capacity, 2 * start, end), width)
        buffer, grown = self._lend(like, shape)
        if slab is not None:
            grown[:, :, :, :start] = slab[:, :, :, :start]
        self._replace(layer, buffer, grown)
        return grown

    def _lend(self, like: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """A buffer and a slab in it."""
        size = math.prod(shape)
        buffer = self._lender.lend(like, size)
        return buffer, buffer[:size].view(shape)

    def _replace(self, layer: int, buffer: Tensor | None, slab: Tensor | None) -> None:
        old = self._buffers[layer]
        if old is not None:
            self._lender.take_back(old)
        self._buffers[layer], self._slabs[layer] = buffer, slab
