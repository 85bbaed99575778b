"""Shows progress: a bar with throughput and time left, or plain lines in a log file."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PLAIN_FIRST_SECONDS = 5.0
PLAIN_EVERY_SECONDS = 30.0


class Progress(Protocol):
    """Receives the progress of a long task."""

    def advance(self, amount: int = 1) -> None: ...


@contextmanager
def progress(title: str, total: int | None = None, unit: str = "items") -> Iterator[Progress]:
    """Yield an object whose `advance(n)` moves the display on; it writes to stderr."""
    if not sys.stderr.isatty():
        yield _PlainLines(title, total, unit)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Throughput(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.finished_speed or task.speed or 0:,.0f} {unit}/s")

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Throughput()
    with RichProgress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)

        class Bar:
            def advance(self, amount: int = 1) -> None:
                bar.advance(task, amount)

        yield Bar()


class _PlainLines:
    def __init__(self, title: str, total: int | None, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done = 0
        self.start = time.monotonic()
        self.next_line = self.start + PLAIN_FIRST_SECONDS

    def advance(self, amount: int = 1) -> None:
        self.done += amount
        now = time.monotonic()
        if now < self.next_line:
            return
        self.next_line = now + PLAIN_EVERY_SECONDS
        speed = self.done / (now - self.start)
        line = f"{self.title}: {self.done:,} {self.unit}, {speed:,.0f} {self.unit}/s"
        if self.total:
            left = (self.total - self.done) / speed if speed else float("inf")
            line = f"{line}, {100 * self.done / self.total:.0f}%, {left:.0f} s left"
        print(line, file=sys.stderr, flush=True)
