"""Who has windows searched, and the queue in which clients wait for their turn.

A client is a stream: it gives a round of windows, is sent what was found for each, and gives the
next round, as a document does. Everything here may be used by several threads. Does not know how
windows are searched, nor what they are for.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from concatmt.decoding.hypotheses import Hypothesis, Window

Found = list[Hypothesis]  # of one window, best first
Stream = Generator[Sequence[Window], list[Found], None]


class Cancelled(Exception):  # noqa: N818 - not an error
    """A client was told to stop."""


class Client:
    """A stream, and what is known of its present round."""

    def __init__(
        self,
        stream: Stream,
        wanted: int | None = None,
        on_end: Callable[[BaseException | None], None] | None = None,
    ) -> None:
        """`wanted`: hypotheses of each window. `on_end` is told once, None or why it ended early;
        without it an error is raised where it happens.
        """
        self.stream, self.wanted, self.on_end = stream, wanted, on_end
        self.cancelled = self.ended = False
        self._lock = threading.Lock()
        self._windows: Sequence[Window] = ()
        self._found: list[Found] = []
        self._begun = self._missing = 0
        self._started = False

    def next_window(self) -> tuple[int, Window] | None:
        """The next window of this round and its number, for the one thread that has the client."""
        if not self._started:
            self._started = True
            self._go_on()
        if self.ended or self._begun == len(self._windows):
            return None
        self._begun += 1
        return self._begun - 1, self._windows[self._begun - 1]

    @property
    def has_more(self) -> bool:
        """Whether windows of this round have not been begun."""
        return not self.ended and self._begun < len(self._windows)

    def take(self, number: int, result: Found) -> bool:
        """What was found for a window. True when that was the last one and a new round is there."""
        with self._lock:
            self._found[number] = result
            self._missing -= 1
            if self._missing or self.ended:
                return False
        self._go_on()
        return not self.ended

    def end(self, error: BaseException | None) -> None:
        """No more of it; the first reason counts."""
        with self._lock:
            if self.ended:
                return
            self.ended = True
        self.stream.close()
        if self.on_end is not None:
            self.on_end(error)
        elif error is not None:
            raise error

    def _go_on(self) -> None:
        """The next round; nobody else has anything of this client."""
        results = self._found
        try:
            self._windows = self.stream.send(results) if results else next(self.stream)
        except StopIteration:
            self.end(None)
        except Exception as error:
            self.end(error)
        else:
            self._found = [[] for _ in self._windows]
            self._begun, self._missing = 0, len(self._windows)


@dataclass(frozen=True, eq=False)
class Place:
    """A window of a client's round."""

    client: Client
    number: int
    window: Window


class Queue:
    """Clients that have windows nobody has begun."""

    def __init__(self, fair: bool = False) -> None:
        """`fair`: they take turns window by window. Else those that have begun come first, so that
        as few as possible are open at a time.
        """
        self.fair = fair
        self.closed = False
        self._clients: deque[Client] = deque()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._clients)

    def add(self, client: Client) -> None:
        """One that has just come."""
        with self._changed:
            if self.closed:
                raise RuntimeError("the queue is closed")
            self._clients.append(client)
            self._changed.notify()

    def put_back(self, client: Client) -> None:
        """One that has more."""
        with self._changed:
            (self._clients.append if self.fair else self._clients.appendleft)(client)
            self._changed.notify()

    def next(self, wait: bool = False) -> Place | None:
        """The next window to search; None when there is none, with `wait` when it is closed."""
        while True:
            with self._changed:
                while wait and not self._clients and not self.closed:
                    self._changed.wait()
                if not self._clients:
                    return None
                client = self._clients.popleft()
            if client.cancelled:
                client.end(Cancelled())
                continue
            window = client.next_window()
            if client.has_more:
                self.put_back(client)
            if window is not None:
                return Place(client, *window)

    def close(self) -> None:
        """Take no more clients."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
