"""Self-attention keys and values of what a decoder has seen, for decoding step by step.

Columns are appended; which hypothesis a column belongs to is the caller's knowledge (the `visible`
mask of `Transformer.decode`), so nothing is copied when a beam is reordered. Now and then the
caller may throw out columns that nobody will see.
"""

from collections.abc import Callable

import torch
from torch import Tensor


class Cache:
    """For every decoder block one slab of keys and values, (2, B, H, capacity, D / H)."""

    def __init__(self, layers: int, capacity: int = 64) -> None:
        """`capacity`: columns to make room for at first; the slabs grow when they are full."""
        self.length = 0  # columns in use
        self._slabs: list[Tensor | None] = [None] * layers
        self._capacity = capacity

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
        self._slabs = [None if slab is None else self._selected(slab, rows) for slab in self._slabs]

    def keep(self, columns: Tensor) -> None:
        """Keep some columns of each row, (B, C) in that order: those that may still be seen."""
        width = columns.shape[1]
        for slab in self._slabs:
            if slab is not None:
                for row, of_row in zip(slab.unbind(1), columns, strict=True):
                    row[:, :, :width] = row[:, :, : self.length].index_select(2, of_row)
        self.length = width

    def _selected(self, slab: Tensor, rows: Tensor) -> Tensor:
        """A copy with as much room as before, so that the next token does not copy it again."""
        fresh = slab.new_empty(2, len(rows), *slab.shape[2:])
        used = slab[:, :, :, : self.length]
        torch.index_select(used, 1, rows, out=fresh[:, :, :, : self.length])
        return fresh

    def _room(self, layer: int, like: Tensor, start: int, end: int) -> Tensor:
        """The slab of `layer`, made or grown to hold at least `end` columns."""
        slab = self._slabs[layer]
        if slab is not None and slab.shape[3] >= end:
            return slab
        rows, heads, _, width = like.shape
        grown = like.new_empty(2, rows, heads, max(self._capacity, 2 * start, end), width)
        if slab is not None:
            grown[:, :, :, :start] = slab[:, :, :, :start]
        self._slabs[layer] = grown
        return grown
