"""The clients of a search, and the queue in which they wait for their turn.

A client runs a stream: it yields a round of windows, is sent the result of each, and yields the
next round, as a document does. Everything here may be used by several threads. Does not know how
windows are searched, or what they are for.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from concatmt.decoding.hypotheses import Hypothesis, Window

Found = list[Hypothesis]  # of one window, best first
Stream = Generator[Sequence[Window], list[Found], None]


class Cancelled(Exception):  # noqa: N818 - not an error
    """A client was asked to stop."""


class Client:
    """A stream and the state of its current round."""

    def __init__(
        self,
        stream: Stream,
        wanted: int | None = None,
        on_end: Callable[[BaseException | None], None] | None = None,
    ) -> None:
        """`wanted`: hypotheses per window. `on_end` is called once, with None or with the reason
        for ending early; without it an error is raised where it happens.
        """
        self.stream, self.wanted, self.on_end = stream, wanted, on_end
        self.cancelled = self.ended = False
        self._lock = threading.Lock()
        self._windows: Sequence[Window] = ()
        self._found: list[Found] = []
        self._begun = self._missing = 0
        self._started = False

    def next_window(self) -> tuple[int, Window] | None:
        """The next window of this round and its number, for the thread that holds the client."""
        if not self._started:
            self._started = True
            self._go_on()
        if self.ended or self._begun == len(self._windows):
            return None
        self._begun += 1
        return self._begun - 1, self._windows[self._begun - 1]

    @property
    def has_more(self) -> bool:
        """Whether this round has windows that were not started."""
        return not self.ended and self._begun < len(self._windows)

    def take(self, number: int, result: Found) -> bool:
        """Take the result of a window. True if it was the last one and a new round has begun."""
        with self._lock:
            self._found[number] = result
            self._missing -= 1
            if self._missing or self.ended:
                return False
        self._go_on()
        return not self.ended

    def end(self, error: BaseException | None) -> None:
        """End the client; the first reason counts."""
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
        """Start the next round; no window of this client is in use."""
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
    """Clients with windows that were not started."""

    def __init__(self, fair: bool = False) -> None:
        """`fair`: clients take turns window by window. Otherwise those that have started come
        first, so that as few as possible are open at a time.
        """
        self.fair = fair
        self.closed = False
        self.idle = 0  # threads that wait for a window
        self._clients: deque[Client] = deque()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._clients)

    def add(self, client: Client) -> None:
        """Add a new client."""
        with self._changed:
            if self.closed:
                raise RuntimeError("the queue is closed")
            self._clients.append(client)
            self._changed.notify()

    def put_back(self, client: Client) -> None:
        """Put back a client that has more windows."""
        with self._changed:
            (self._clients.append if self.fair else self._clients.appendleft)(client)
            self._changed.notify()

    def next(self, wait: bool = False) -> Place | None:
        """The next window to search; None if there is none (with `wait`, only when closed)."""
        while True:
            with self._changed:
                while wait and not self._clients and not self.closed:
                    self.idle += 1
                    self._changed.wait()
                    self.idle -= 1
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
