"""Rounds of windows, and the order in which a queue hands them out."""

from collections.abc import Sequence

import pytest

from concatmt.decoding.clients import Cancelled, Client, Found, Queue, Stream
from concatmt.decoding.hypotheses import Hypothesis, Window


def window(number: int) -> Window:
    return Window([[number]], number=number)


def result(number: int) -> Found:
    return [Hypothesis([number], [0.0, 0.0], 0.0)]


def rounds(*sizes: Sequence[int], seen: list[list[int]] | None = None) -> Stream:
    """A stream with these windows in each round; the results of each go to `seen`."""
    for numbers in sizes:
        results = yield [window(number) for number in numbers]
        if seen is not None:
            seen.append([found[0].tokens[0] for found in results])


def order(queue: Queue) -> list[int]:
    taken = []
    while (place := queue.next()) is not None:
        taken.append(place.window.number)
    return taken


def test_a_client_gets_the_results_of_a_round_in_its_order_then_the_next_round() -> None:
    seen: list[list[int]] = []
    client = Client(rounds([1, 2], [3], seen=seen))
    first, second = client.next_window(), client.next_window()
    assert first is not None
    assert second is not None
    assert client.next_window() is None  # nothing before the results are there
    assert not client.take(second[0], result(20))
    assert client.take(first[0], result(10))
    assert client.next_window() == (0, window(3))
    assert not client.take(0, result(30))
    assert client.ended
    assert seen == [[10, 20], [30]]


def test_one_client_after_the_other_or_in_turns() -> None:
    for fair, expected in ((False, [1, 2, 3, 4]), (True, [1, 3, 2, 4])):
        queue = Queue(fair)
        queue.add(Client(rounds([1, 2])))
        queue.add(Client(rounds([3, 4])))
        assert order(queue) == expected


def test_a_cancelled_client_hears_of_it_once_and_makes_way() -> None:
    ends: list[BaseException | None] = []
    cancelled = Client(rounds([1]), on_end=ends.append)
    queue = Queue()
    queue.add(cancelled)
    queue.add(Client(rounds([2])))
    cancelled.cancelled = True
    assert order(queue) == [2]
    cancelled.end(None)
    assert [type(end) for end in ends] == [Cancelled]


def test_an_error_in_a_stream_goes_to_whoever_listens_or_is_raised() -> None:
    def failing() -> Stream:
        yield [window(1)]
        raise ValueError("bad")

    ends: list[BaseException | None] = []
    client = Client(failing(), on_end=ends.append)
    client.next_window()
    client.take(0, result(1))
    assert [str(end) for end in ends] == ["bad"]
    alone = Client(failing())
    alone.next_window()
    with pytest.raises(ValueError, match="bad"):
        alone.take(0, result(1))


def test_a_closed_queue_takes_no_more_and_ends_the_wait() -> None:
    queue = Queue()
    queue.close()
    assert queue.next(wait=True) is None
    with pytest.raises(RuntimeError, match="closed"):
        queue.add(Client(rounds([1])))
