"""Searches the windows of many clients in the rows of one running search, on one thread.

When a window is done, a waiting one takes its row, whatever step the others are at, so that
nobody waits for the longest. Several schedulers may share a queue, each with rows of its own.

All rows of a batch are as wide as the longest. A window far longer than the budget foresees is
searched separately: by `run` after the others, by `serve` alongside them. So is a window that aims
at terms, whose beam is wider: by `run` at once.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice

from concatmt.decoding.batches import plan, term_search, translate_windows
from concatmt.decoding.beams import Row
from concatmt.decoding.clients import Cancelled, Client, Found, Place, Queue, Stream
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.search import Search

JOIN_TOGETHER = 0.25  # share of the rows that must be free before others join
TAKEN_A_STEP = 8  # most windows that join online in one step, so that other schedulers get some too
PATIENCE = 3  # steps after which fewer waiting windows may join online


class Rows:
    """The rows of one search, each with the window that it works on."""

    def __init__(self, make: Callable[[], Search], most: int, patient: bool) -> None:
        """Use at `most` this many rows. `patient`: windows wait until enough can join together."""
        self.make, self.most, self.patient = make, most, patient
        self.search = make()
        self.waiting: deque[Place] = deque()
        self.waited = 0  # steps
        self.owners: dict[Row, Place] = {}

    @property
    def busy(self) -> bool:
        """Whether any window is being searched or waiting."""
        return bool(self.owners or self.waiting)

    @property
    def room(self) -> int:
        """How many more windows can have a row at once."""
        return self.most - len(self.owners) - len(self.waiting)

    def advance(self) -> list[tuple[Place, Row]]:
        """Let waiting windows join if it is time, then make a step; returns what is done."""
        done = self._admit()
        self.search.leave(kept=len(self.waiting))
        if self.search.live:
            self.waited += bool(self.waiting)
            done += self._served(self.search.step())
        return done

    def _admit(self) -> list[tuple[Place, Row]]:
        rows, waiting = self.search.rows, min(len(self.waiting), self.most - len(self.owners))
        enough = waiting >= JOIN_TOGETHER * rows or not self.search.live
        if not waiting or not (enough or (not self.patient and self.waited >= PATIENCE)):
            return []
        places = list(islice(self.waiting, waiting))
        self.waited = 0
        windows = [place.window for place in places]
        joined = self.search.join(windows, [place.client.wanted for place in places])
        for _ in places:
            self.waiting.popleft()
        self.owners.update(zip(joined, places, strict=True))
        return self._served([row for row in joined if not row.live])

    def _served(self, rows: Iterable[Row]) -> list[tuple[Place, Row]]:
        return [(self.owners.pop(row), row) for row in rows]

    def drop_cancelled(self) -> None:
        """Free the rows of clients that were cancelled or have ended."""
        gone = [row for row, place in self.owners.items() if _is_gone(place.client)]
        for row in gone:
            row.live = False
            self.owners.pop(row).client.end(Cancelled())
        for place in [place for place in self.waiting if _is_gone(place.client)]:
            self.waiting.remove(place)
            place.client.end(Cancelled())

    def fail(self, error: BaseException) -> None:
        """End all clients with this error and start with empty rows."""
        places = [*self.owners.values(), *self.waiting]
        self.search.close()
        self.search = self.make()
        self.owners.clear()
        self.waiting.clear()
        for place in places:
            place.client.end(error)


class Scheduler:
    """Searches for the clients of a queue."""

    def __init__(
        self, engine: Engine, config: SearchConfig, pool: PoolConfig, queue: Queue
    ) -> None:
        """Search `pool.windows` windows at a time."""
        self.engine, self.config, self.pool, self.queue = engine, config, pool, queue
        self.longest = max(
            1, 2 * pool.tokens // pool.windows
        )  # of windows that are searched together
        self.rows = Rows(self._search, pool.windows, patient=not queue.fair)
        # Few at a time, as each is wide.
        few = max(1, pool.windows // 8)
        self.long = Rows(self._search, few, patient=False)
        self.aimed = Rows(lambda: term_search(engine, config), few, patient=False)

    def run(self) -> None:
        """Search until the queue is empty; what is searched together depends on the clients."""
        far: list[Place] = []  # windows that are searched separately
        while True:
            self._fill(self.rows.room, far)
            while self.rows.busy:
                for place, row in self.rows.advance():
                    self._deliver(place, row.finished)
                    self._fill(1, far)  # so that its client's next window takes the row
            self.rows.search.close()
            if not far:
                return
            places, far = far, []
            results: dict[Place, Found] = {}
            for batch in plan([place.window.cost for place in places], self.pool):
                together = [places[i] for i in batch]
                wanted = [place.client.wanted for place in together]
                hypotheses = self._search().run([place.window for place in together], wanted)
                results.update(zip(together, hypotheses, strict=True))
            for place in reversed(places):  # so that the first is the first of the queue
                self._deliver(place, results[place])

    def serve(self) -> None:
        """Search until the queue is closed and empty; new windows join within a few steps."""
        while True:
            for rows in self.all_rows:
                rows.drop_cancelled()
            idle = not any(rows.busy for rows in self.all_rows)
            if idle:
                for rows in self.all_rows:
                    rows.search.close()
            if not self._take_in(wait=idle) and idle:
                return
            for rows in self.all_rows:
                try:
                    done = rows.advance()
                except Exception as error:  # whatever it is, other clients continue
                    rows.fail(error)
                    continue
                for place, row in done:
                    self._deliver(place, row.finished)

    def _fill(self, count: int, far: list[Place]) -> None:
        """Take `count` windows from the queue, not counting long ones."""
        while count and (place := self.queue.next()) is not None:
            if place.window.terms:
                pool = self.pool.model_copy(update={"threads": 1})
                wanted = place.client.wanted
                [result] = translate_windows(self.engine, [place.window], self.config, pool, wanted)
                self._deliver(place, result)
            elif place.window.cost > self.longest:
                far.append(place)
            else:
                self.rows.waiting.append(place)
                count -= 1

    def _take_in(self, wait: bool) -> int:
        """Take some windows from the queue, leaving some to other schedulers; returns how many."""
        count = 0
        while count < TAKEN_A_STEP and self.rows.room > 0:
            place = self.queue.next(wait and not count)
            if place is None:
                break
            self._rows_for(place.window).waiting.append(place)
            count += 1
            if self.queue.idle:
                break  # a thread that has nothing to do takes the next ones
        return count

    def _rows_for(self, window: Window) -> Rows:
        if window.terms:
            return self.aimed
        return self.long if window.cost > self.longest else self.rows

    @property
    def all_rows(self) -> tuple[Rows, ...]:
        """Those of all searches of this thread."""
        return self.rows, self.long, self.aimed

    def _search(self) -> Search:
        return Search(self.engine, self.config)

    def _deliver(self, place: Place, result: Found) -> None:
        if place.client.take(place.number, result):
            self.queue.put_back(place.client)


def search_for(
    streams: Iterable[Stream],
    engine: Engine,
    config: SearchConfig,
    pool: PoolConfig,
    wanted: int | None = None,
) -> None:
    """Feed each stream the results of its windows until it has no more, all side by side."""
    queue = Queue()
    for stream in streams:
        queue.add(Client(stream, wanted))
    Scheduler(engine, config, pool, queue).run()


def _is_gone(client: Client) -> bool:
    return client.cancelled or client.ended
