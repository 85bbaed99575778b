"""Reuses memory for large results. Does not know what they are."""

import threading

from torch import Tensor


class KeptRows:
    """Rows of fixed width. Allocating them would cost more than computing them, so each thread
    keeps one buffer, valid until that thread's next call.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.kept = threading.local()

    def like(self, x: Tensor) -> Tensor:
        """(R, width), not initialised, for R rows of x."""
        buffer: Tensor | None = getattr(self.kept, "buffer", None)
        if buffer is None or len(buffer) < len(x):
            buffer = self.kept.buffer = x.new_empty(len(x), self.width)
        return buffer[: len(x)]
