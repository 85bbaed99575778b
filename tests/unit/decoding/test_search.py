"""Beam search against the authors' beams, against teacher forcing, and against itself."""

import itertools
import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from concatmt.conversion.fairseq import import_checkpoint
from concatmt.corpus.batch import WindowBatch
from concatmt.decoding.batches import plan, translate_windows
from concatmt.decoding.boundaries import Boundaries
from concatmt.decoding.candidates import BLOCK, LOG2_E, best_candidates
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.model.transformer import Transformer
from concatmt.settings import parse_settings
from concatmt.text.vocabulary import END, SEPARATOR
from tests.unit.decoding.models import (
    SYSTEMS,
    make_engine,
    make_model,
    make_windows,
    teacher_forced,
)

GOLDEN = ["s4to4", "s4to4-shared", "1hot-pers", "sin-pse-pers", "lrn", "lrn-pse"]
SHORT = SearchConfig(length_factor=1, length_constant=4)
TIE = 1e-5  # scores that float32 does not tell apart


@pytest.mark.parametrize("variant", GOLDEN)
@pytest.mark.parametrize("double", [False, True])
def test_unconstrained_beams_are_those_of_the_authors_code(
    shared: Path, variant: str, double: bool
) -> None:
    folder = shared / "golden" / variant
    checkpoint = (folder / name for name in ("checkpoint.pt", "dict.src.txt", "dict.tgt.txt"))
    model, source, target = import_checkpoint(*checkpoint)
    expected = json.loads((folder / "expected.json").read_text())["windows"]
    windows = [Window([source.encode(s.split()) for s in one["source"]]) for one in expected]
    config = SearchConfig(constrained=False, length_factor=0, length_constant=60)
    engine = Engine(model.double() if double else model)
    found = translate_windows(engine, windows, config, PoolConfig())
    for one, hypotheses in zip(expected, found, strict=True):
        texts = [tuple(" ".join(target.decode(s)) for s in h.sentences) for h in hypotheses]
        theirs = {tuple(beam["text"]): beam["score"] for beam in one["beam"]}
        assert sorted(texts) == sorted(theirs)
        scores = [theirs[text] for text in texts]
        assert [h.score for h in hypotheses] == pytest.approx(scores, abs=1e-4)
        # In their order; in single precision the processor decides about two closer than TIE.
        tie = 0 if double else TIE
        assert all(before >= after - tie for before, after in itertools.pairwise(scores))


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("sample", [False, True])
def test_a_beams_own_score_is_the_teacher_forced_one(system: str, sample: bool) -> None:
    model = make_model(system)
    windows = make_windows(12, model.config.system.sentences)
    config = SHORT.model_copy(update={"sample": sample})
    found = translate_windows(Engine(model), windows, config, PoolConfig())
    for window, hypotheses in zip(windows, found, strict=True):
        assert len(hypotheses) == 4
        for hypothesis in hypotheses:
            target = hypothesis.sentences
            wanted = teacher_forced(model, list(window.source), target)
            assert hypothesis.log_probs == pytest.approx(wanted, abs=2e-5)
            length = len(hypothesis.log_probs)
            assert hypothesis.score == pytest.approx(sum(wanted) / length**0.6, abs=1e-4)


@pytest.mark.parametrize("system", ["s4to4+pers", "s3to3+cd+shift5+pers", "s4to4+1hot+pse"])
def test_beams_may_cross_boundaries_at_different_steps(system: str) -> None:
    crossings = 0
    for seed in range(6):
        # Few words and no strong preferences: some of these models end sentences early or late.
        model = make_model(system, vocabulary=10, sharpness=0.15, seed=seed)
        windows = make_windows(8, model.config.system.sentences, vocabulary=10, seed=seed)
        found = translate_windows(Engine(model), windows, SHORT, PoolConfig())
        for window, hypotheses in zip(windows, found, strict=True):
            crossings += len({len(hypothesis.sentences[0]) for hypothesis in hypotheses}) > 1
            for hypothesis in hypotheses:
                wanted = teacher_forced(model, list(window.source), hypothesis.sentences)
                assert hypothesis.log_probs == pytest.approx(wanted, abs=2e-5)
    assert crossings


@pytest.mark.parametrize("system", ["s4to4+shift5+pers", "s4to4+lrn+pers+pse"])
def test_what_follows_a_forced_prefix_is_scored_as_in_the_whole_window(system: str) -> None:
    model = make_model(system)
    draws = make_windows(10, 4, seed=1)
    windows = [
        Window(window.source, make_windows(1, 1, seed=i)[0].source * (len(window.source) - 1))
        for i, window in enumerate(draws)
    ]
    found = translate_windows(Engine(model), windows, SHORT, PoolConfig())
    for window, hypotheses in zip(windows, found, strict=True):
        for hypothesis in hypotheses:
            (current,) = hypothesis.sentences
            whole = teacher_forced(model, list(window.source), [*window.forced, current])
            assert hypothesis.log_probs == pytest.approx(whole[-len(current) - 1 :], abs=2e-5)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), beam=st.integers(1, 5), sample=st.booleans())
def test_exactly_n_sentences_come_out_and_none_is_empty(seed: int, beam: int, sample: bool) -> None:
    config = SHORT.model_copy(update={"beam": beam, "sample": sample})
    windows = make_windows(4, 4, seed=seed)
    engine = make_engine("s4to4+lrn")
    for window, hypotheses in zip(
        windows, translate_windows(engine, windows, config, PoolConfig()), strict=True
    ):
        assert 1 <= len(hypotheses) <= beam
        for hypothesis in hypotheses:
            lengths = [len(sentence) for sentence in hypothesis.sentences]
            assert len(lengths) == len(window.source)
            limits = [len(sentence) + 4 for sentence in window.source]
            assert all(0 < n <= limit for n, limit in zip(lengths, limits, strict=True))
            assert not {0, 1, END} & set(hypothesis.tokens)


@pytest.mark.parametrize("sample", [False, True])
def test_translations_do_not_depend_on_batch_order_or_threads(sample: bool) -> None:
    engine = make_engine("s4to4+shift5+pers")
    windows = make_windows(12, 4)
    config = SHORT.model_copy(update={"sample": sample})
    alone = [translate_windows(engine, [window], config, PoolConfig())[0] for window in windows]
    for batch, threads in itertools.product((5, 12), (1, 2)):
        pool = PoolConfig(windows=batch, threads=threads)
        backwards = translate_windows(engine, windows[::-1], config, pool)[::-1]
        for one, other in zip(alone, backwards, strict=True):
            assert [h.tokens for h in one] == [h.tokens for h in other]
            assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-5)


@pytest.mark.parametrize("constrained", [True, False])
def test_the_best_are_the_same_however_few_are_wanted(constrained: bool) -> None:
    spared = 0
    for seed, penalty in enumerate((-0.5, 0.0, 0.6, 1.5)):
        engine = Engine(make_model("s4to4", 12, seed=seed, sharpness=3.0))
        config = SearchConfig(beam=4, length_penalty=penalty, constrained=constrained)
        windows = make_windows(12, 3, 12, seed)
        windows += [Window(w.source, w.source[:-1]) for w in windows]
        whole = translate_windows(engine, windows, config, PoolConfig())
        for wanted in (1, 2):
            found = translate_windows(engine, windows, config, PoolConfig(), wanted)
            for some, everything in zip(found, whole, strict=True):
                spared += len(some) < len(everything)
                for a, b in zip(some[:wanted], everything[:wanted], strict=True):
                    assert a.tokens == b.tokens
                    assert a.score == pytest.approx(b.score, abs=1e-4)
    assert spared


def test_a_search_that_stops_when_it_is_likely_is_cut_short() -> None:
    """It finds the first of what a longer search would find, in fewer steps."""
    engine = Engine(make_model("s4to4", 12, sharpness=3.0))
    windows = make_windows(24, 3, 12, 2)
    steps: dict[str, int] = {"certain": 0, "likely": 0}
    found = {}
    decode = engine.decode
    for stop in steps:

        def count(*arguments: object, stop: str = stop) -> object:
            steps[stop] += 1
            return decode(*arguments)  # type: ignore[arg-type]

        engine.decode = count  # type: ignore[method-assign, assignment]
        config = parse_settings(SearchConfig, {"stop": stop}, "test")
        found[stop] = [
            translate_windows(engine, [window], config, PoolConfig(), 1)[0] for window in windows
        ]
    assert steps["likely"] < steps["certain"]
    for few, more in zip(found["likely"], found["certain"], strict=True):
        texts = [one.tokens for one in more]
        assert few
        assert all(one.tokens in texts for one in few)
        assert few[0].score <= more[0].score + 1e-5


def beams_of_transformers(
    model: Transformer, source: list[list[int]], config: SearchConfig, longest: int
) -> list[tuple[float, list[int]]]:
    """generate(num_beams, early_stopping=False) step by step, each token by teacher forcing.

    Of twice as many candidates as beams, those that end count if they are among the first beams;
    the search is over when the best sum that goes on, divided by its length, is no better than the
    worst of a full beam.
    """
    beam, penalty = config.beam, config.length_penalty
    running: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[tuple[float, list[int]]] = []
    words = range(4, model.config.target_vocabulary)
    while True:
        candidates = []
        for total, tokens in running:
            for token in [*(words if len(tokens) < longest else ()), *([END] if tokens else ())]:
                target = tokens if token == END else [*tokens, token]
                step = teacher_forced(model, source, [target])[len(tokens)]
                candidates.append((total + step, [*tokens, token]))
        candidates = sorted(candidates, reverse=True)[: 2 * beam]
        for total, tokens in candidates[:beam]:
            if tokens[-1] == END:
                finished.append((total / len(tokens) ** penalty, tokens[:-1]))
        finished = sorted(finished, reverse=True)[:beam]
        running = [one for one in candidates if one[1][-1] != END][:beam]
        if not running:
            return finished
        best = running[0][0] / len(running[0][1]) ** penalty
        if len(finished) == beam and best <= finished[-1][0]:
            return finished


def test_a_search_for_the_best_gives_the_beams_of_transformers() -> None:
    after_a_full_beam = 0
    for seed in range(4):
        model = make_model("base", vocabulary=9, sharpness=0.6, seed=seed)
        engine = Engine(model)
        config = SearchConfig(
            beam=3, length_penalty=1, length_factor=0, length_constant=6, stop="best"
        )
        windows = make_windows(3, 1, 9, seed)
        found = translate_windows(engine, windows, config, PoolConfig())
        usual = config.model_copy(update={"stop": "certain"})
        first_full = translate_windows(engine, windows, usual, PoolConfig())
        for window, hypotheses, others in zip(windows, found, first_full, strict=True):
            wanted = beams_of_transformers(model, [list(s) for s in window.source], config, 6)
            assert [h.tokens for h in hypotheses] == [tokens for _, tokens in wanted]
            assert [h.score for h in hypotheses] == pytest.approx([s for s, _ in wanted], abs=1e-4)
            after_a_full_beam += [h.tokens for h in others] != [h.tokens for h in hypotheses]
    assert after_a_full_beam


def test_a_beam_of_the_size_of_the_tree_finds_the_best_translation() -> None:
    # Two words, one sentence of at most two tokens: six translations, all scored by hand.
    model = make_model("base", vocabulary=6)
    window = Window([[4, 5]])
    config = SearchConfig(beam=16, length_penalty=1, length_factor=0, length_constant=2)
    found = translate_windows(Engine(model), [window], config, PoolConfig())[0]
    every = [[4], [5], [4, 4], [4, 5], [5, 4], [5, 5]]
    scores = {tuple(t): teacher_forced(model, [[4, 5]], [t]) for t in every}
    order = sorted(every, key=lambda t: -sum(scores[tuple(t)]) / len(scores[tuple(t)]))
    assert [h.tokens for h in found] == order


def test_greedy_takes_the_best_token_at_every_step() -> None:
    """The largest of the model's own log-probs of every allowed token, by teacher forcing.

    Allowed after the rule in docs/translating.md: words until a sentence is full, and its boundary
    (a separator, in the last sentence <end>) once it has a word.
    """
    model = make_model("s4to4")
    window = make_windows(1, 4)[0]
    config = SearchConfig(beam=1, length_factor=0.0, length_constant=6)
    (best,) = translate_windows(Engine(model), [window], config, PoolConfig())[0]
    batch = WindowBatch.from_lists([list(window.source)], [best.sentences])
    with torch.no_grad():
        log_probs = model.log_probs(model(batch))[0]
    tokens = [*best.tokens, END]
    words, left = 0, len(window.source) - 1
    for token, scores in zip(tokens, log_probs, strict=True):
        boundary = SEPARATOR if left else END
        allowed = list(range(4, scores.numel())) if words < config.length_constant else []
        allowed += [boundary] if words else []
        assert token == max(allowed, key=lambda other: float(scores[other]))
        words, left = (0, left - 1) if token == SEPARATOR else (words + 1, left)


def test_samples_follow_the_seed() -> None:
    engine, windows = make_engine("s4to4"), make_windows(5, 4)

    def draw(seed: int) -> list[list[int]]:
        config = SHORT.model_copy(update={"sample": True, "seed": seed})
        found = translate_windows(engine, windows, config, PoolConfig())
        return [h.tokens for hypotheses in found for h in hypotheses]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_segments_count_down_and_a_separator_belongs_to_what_it_closes() -> None:
    # Written out by hand after the definition: k = n - separators so far, from the right.
    rule = Boundaries.start(torch.tensor([3]), torch.full((1, 3), 9), torch.tensor([0]))
    tokens = [7, SEPARATOR, 8, 8, SEPARATOR, 9]
    parents = torch.zeros(1, 1, dtype=torch.int64)
    segments = [int(rule.follow(parents, torch.tensor([[token]]))) for token in tokens]
    assert segments == [3, 3, 2, 2, 2, 1]


@given(st.integers(1, 5), st.integers(1, 9), st.integers(1, 3), st.booleans(), st.integers(0, 999))
def test_candidates_are_those_of_a_full_sort(
    rows: int, count: int, blocks: int, scaled: bool, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, 3 * BLOCK, generator=generator) * 5
    factors = torch.rand(rows, 1, generator=generator) * 3 + 0.1 if scaled else None
    wanted = (logits if factors is None else logits * factors).log_softmax(1)
    parts = [part * LOG2_E for part in logits.split(blocks * BLOCK, dim=1)]
    found = best_candidates(parts, count, factors)
    values, words = wanted[:, 4:].topk(count, dim=1)
    assert torch.equal(found.words, words + 4)
    torch.testing.assert_close(found.scores, values, atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(found.separator, wanted[:, SEPARATOR], atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(found.end, wanted[:, END], atol=1e-5, rtol=1e-6)


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 9), st.integers(1, 500))
def test_every_window_is_in_one_batch_and_budgets_hold(
    costs: list[int], windows: int, tokens: int
) -> None:
    batches = plan(costs, PoolConfig(windows=windows, tokens=tokens))
    assert sorted(i for batch in batches for i in batch) == list(range(len(costs)))
    for batch in batches:
        assert len(batch) <= windows
        assert len(batch) == 1 or len(batch) * max(costs[i] for i in batch) <= tokens
