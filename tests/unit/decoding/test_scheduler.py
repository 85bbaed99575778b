"""Windows that take each other's places in a batch are translated as they are alone."""

import pytest

from concatmt.decoding.batches import translate_windows
from concatmt.decoding.beams import TIDY_SHARE, TIDY_STEPS
from concatmt.decoding.clients import Stream
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Hypothesis, Window
from concatmt.decoding.scheduler import search_for
from tests.unit.decoding.models import SYSTEMS, make_model, make_windows

SHORT = SearchConfig(length_factor=1, length_constant=4)
Found = list[tuple[Window, list[Hypothesis]]]


def document(number: int, found: Found) -> Stream:
    """Windows of which each is forced to begin with the best translation of the one before it."""
    previous: list[list[int]] = []
    for one in make_windows(1 + number % 5, 4, seed=number):
        source = list(one.source)
        window = Window(source, (previous * len(source))[: len(source) - 1], number)
        (hypotheses,) = yield [window]
        found.append((window, hypotheses))
        previous = [hypotheses[0].sentences[-1]]


def run(engine: Engine, config: SearchConfig, pool: PoolConfig, documents: int = 14) -> list[Found]:
    """What each document was told."""
    found: list[Found] = [[] for _ in range(documents)]
    search_for((document(i, found[i]) for i in range(documents)), engine, config, pool)
    return found


def assert_as_alone(engine: Engine, config: SearchConfig, told: list[Found]) -> None:
    assert [len(of_one) for of_one in told] == [1 + i % 5 for i in range(len(told))]
    for window, hypotheses in (pair for of_one in told for pair in of_one):
        (alone,) = translate_windows(engine, [window], config, PoolConfig())
        assert [h.tokens for h in hypotheses] == [h.tokens for h in alone]
        for one, other in zip(hypotheses, alone, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name.startswith("s4")])
def test_documents_side_by_side_are_translated_as_alone(system: str) -> None:
    engine = Engine(make_model(system))
    for rows in (3, 64):
        told = run(engine, SHORT, PoolConfig(windows=rows))
        assert_as_alone(engine, SHORT, told)


@pytest.mark.parametrize("change", [{"constrained": False}, {"sample": True}, {"beam": 1}])
def test_so_they_are_by_every_kind_of_search(change: dict[str, object]) -> None:
    engine = Engine(make_model("s4to4+shift5+pers"))
    config = SHORT.model_copy(update=change)
    assert_as_alone(engine, config, run(engine, config, PoolConfig(windows=3)))


def test_long_windows_wait_and_are_translated_as_well() -> None:
    engine = Engine(make_model("s4to4+lrn"))
    # Room for 12 tokens a window, which some exceed and some do not.
    told = run(engine, SHORT, PoolConfig(windows=3, tokens=18))
    costs = [window.cost for of_one in told for window, _ in of_one]
    assert min(costs) <= 12 < max(costs)
    assert_as_alone(engine, SHORT, told)


def test_a_long_stream_takes_no_more_room_than_its_windows() -> None:
    """Columns of the cache and of the hypotheses are thrown out as the windows change."""
    engine = Engine(make_model("s4to4"))
    seen: list[tuple[int, int]] = []
    decode = engine.decode

    def watch(*arguments: object) -> object:
        tokens, cache = arguments[0], arguments[4]
        seen.append((len(tokens), cache.length))  # type: ignore[arg-type, attr-defined]
        return decode(*arguments)  # type: ignore[arg-type]

    engine.decode = watch  # type: ignore[method-assign, assignment]
    run(engine, SHORT, PoolConfig(windows=4), documents=60)
    assert len(seen) > 300
    assert max(rows for rows, _ in seen) == 4
    # At most 3 forced sentences of 13 tokens and 13 steps of 4 beams; columns that nobody sees are
    # thrown out every 8 steps when they are a quarter of all.
    assert max(columns for _, columns in seen) <= (39 + 13 * 4) / TIDY_SHARE + 4 * TIDY_STEPS
