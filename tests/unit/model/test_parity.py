"""The laws that every system obeys: all encodings x fusions x persistence x window sizes."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.model.directory import load_model, save_model
from concatmt.model.loss import LossConfig, discount_weights, window_loss
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import END, PAD
from tests.unit.model.small_models import (
    SYSTEMS,
    build,
    cut,
    log_probs,
    random_batch,
    random_window,
    running_segments,
)

every_system = pytest.mark.parametrize("system", SYSTEMS)


def by_steps(model: Transformer, batch: WindowBatch, prefix: int) -> torch.Tensor:
    """(B, T, V): the first `prefix` tokens in one pass, the others one at a time."""
    inputs = batch.target.shifted_right().tokens
    k = running_segments(inputs, batch.sentences)
    memory, cache = model.encode(batch.source, batch.sentences), model.cache(4)
    steps = [slice(0, prefix), *(slice(i, i + 1) for i in range(prefix, inputs.shape[1]))]
    hidden = [
        model.decode(inputs[:, s], torch.arange(s.start, s.stop)[None] + 2, k[:, s], memory, cache)
        for s in steps
    ]
    return model.log_probs(torch.cat(hidden, dim=1))


@every_system
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_step_by_step_equals_the_whole_window(system: str, norm: str) -> None:
    """The rows cross sentence boundaries at different steps."""
    model = build(system, norm=norm)
    batch = random_batch(model, rows=6)
    real = batch.target.mask
    whole = log_probs(model, batch)
    with torch.no_grad():
        for prefix in (1, 4):
            steps = by_steps(model, batch, min(prefix, real.shape[1]))
            assert (steps - whole)[real].abs().max() < 1e-5


@every_system
def test_hypotheses_that_share_a_row_do_not_see_each_other(system: str) -> None:
    """As in a beam: one source, one cache row, one column per hypothesis and step."""
    model = build(system)
    n = model.config.system.sentences
    generator = torch.Generator().manual_seed(3)
    source = random_window(generator, n)
    beam = [random_window(generator, n) for _ in range(3)]
    apart = WindowBatch.from_lists([source] * 3, beam)
    whole, real = log_probs(model, apart), apart.target.mask
    inputs = apart.target.shifted_right().tokens
    k = running_segments(inputs, apart.sentences)
    one = WindowBatch.from_lists([source], [beam[0]])
    visible = torch.zeros(1, 3, 0, dtype=torch.bool)
    cache = model.cache(2)
    with torch.no_grad():
        memory = model.encode(one.source, one.sentences)
        for step in range(inputs.shape[1]):
            visible = torch.cat([visible, torch.eye(3, dtype=torch.bool)[None]], dim=2)
            t = torch.full((1, 3), step + 2)
            hidden = model.decode(
                inputs[None, :, step], t, k[None, :, step], memory, cache, visible
            )
            difference = (model.log_probs(hidden[0]) - whole[:, step])[real[:, step]]
            assert difference.numel() == 0 or difference.abs().max() < 1e-5


@every_system
def test_candidates_after_a_shared_prefix_equal_their_whole_windows(system: str) -> None:
    """As in contrastive scoring: the context is read once, then all candidates in one pass."""
    model = build(system)
    n = model.config.system.sentences
    generator = torch.Generator().manual_seed(4)
    source, context = random_window(generator, n), random_window(generator, n - 1)
    apart = WindowBatch.from_lists(
        [source] * 3, [[*context, candidate] for candidate in ([5, 6], [7], [8, 9, 10, 11])]
    )
    whole, inputs = log_probs(model, apart), apart.target.shifted_right()
    shared = sum(len(sentence) + 1 for sentence in context) + 1  # with the first <end>
    t = torch.arange(inputs.tokens.shape[1])[None] + 2
    cache = model.cache()
    with torch.no_grad():
        memory = model.encode(cut(apart.source, torch.tensor([0])), apart.sentences[:1])
        first = torch.tensor([0])
        prefix = cut(inputs, first)
        model.decode(
            prefix.tokens[:, :shared], t[:, :shared], prefix.segments[:, :shared], memory, cache
        )
        width = inputs.tokens.shape[1] - shared
        own = torch.ones(width, width, dtype=torch.bool).tril()
        blocks = torch.block_diag(*[own] * 3).bool()
        visible = torch.cat([torch.ones(3 * width, shared, dtype=torch.bool), blocks], dim=1)
        hidden = model.decode(
            inputs.tokens[:, shared:].reshape(1, -1),
            t[:, shared:].repeat(1, 3),
            inputs.segments[:, shared:].reshape(1, -1),
            memory,
            cache,
            visible[None],
        )
    ours = model.log_probs(hidden).view(3, width, -1)
    real = apart.target.mask[:, shared:]
    assert (ours - whole[:, shared:])[real].abs().max() < 1e-5


@every_system
def test_a_windows_outputs_do_not_depend_on_padding_order_or_neighbours(system: str) -> None:
    model = build(system)
    batch = random_batch(model, rows=5)
    together = log_probs(model, batch)
    order = torch.tensor([3, 0, 4, 2, 1])
    shuffled = log_probs(
        model,
        WindowBatch(cut(batch.source, order), cut(batch.target, order), batch.sentences[order]),
    )
    padded = log_probs(
        model, WindowBatch(widened(batch.source, 3), widened(batch.target, 2), batch.sentences)
    )
    for row in range(5):
        length = int(batch.target.lengths[row])
        alone = WindowBatch(
            trimmed(batch.source, row), trimmed(batch.target, row), batch.sentences[row : row + 1]
        )
        expected = together[row, :length]
        assert (log_probs(model, alone)[0] - expected).abs().max() < 1e-5
        assert (padded[row, :length] - expected).abs().max() < 1e-5
        assert (shuffled[order.tolist().index(row), :length] - expected).abs().max() < 1e-5


def widened(side: Side, columns: int) -> Side:
    pad = torch.nn.functional.pad
    return Side(
        pad(side.tokens, (0, columns), value=PAD), side.lengths, pad(side.segments, (0, columns))
    )


def trimmed(side: Side, row: int) -> Side:
    length = int(side.lengths[row])
    one = slice(row, row + 1)
    return Side(side.tokens[one, :length], side.lengths[one], side.segments[one, :length])


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system.startswith("s4to4")])
def test_every_parameter_counts(system: str, tmp_path: Path) -> None:
    """Each tensor gets a gradient, changes the output when changed, and survives a round trip."""
    model = build(system, embeddings="separate", norm="pre" if "pers" in system else "post")
    batch = random_batch(model)
    weights = discount_weights(batch.target, 1.0)
    window_loss(
        model(batch), model.output.weight, batch.target, weights, LossConfig()
    ).total.backward()
    before = log_probs(model, batch)
    save_model(tmp_path / "model", model)
    assert torch.equal(log_probs(load_model(tmp_path / "model"), batch), before)
    generator = torch.Generator().manual_seed(1)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
        original = parameter.detach().clone()
        with torch.no_grad():
            parameter += torch.randn(parameter.shape, generator=generator)
            assert (log_probs(model, batch) - before).abs().max() > 1e-4, name
            parameter.copy_(original)


@settings(max_examples=60)
@given(st.sampled_from(SYSTEMS), st.integers(0, 10_000), st.integers(1, 9))
def test_any_split_into_prefix_and_steps_gives_the_same(
    system: str, seed: int, prefix: int
) -> None:
    model = build(system, seed=seed)
    batch = random_batch(model, rows=4, seed=seed)
    with torch.no_grad():
        steps = by_steps(model, batch, min(prefix, batch.target.tokens.shape[1]))
    difference = (steps - log_probs(model, batch))[batch.target.mask]
    assert difference.abs().max() < 1e-5


def test_rows_can_leave_the_cache_in_mid_decoding() -> None:
    model = build("s3to3+lrn+pers")
    batch = random_batch(model, rows=4)
    whole, inputs = log_probs(model, batch), batch.target.shifted_right()
    assert inputs.tokens[:, 0].eq(END).all()
    cache, kept = model.cache(), torch.tensor([3, 1])
    with torch.no_grad():
        memory = model.encode(batch.source, batch.sentences)
        for step in range(3):
            if step == 2:
                cache.select(kept)
                memory = memory.select(kept)
            rows = kept if step == 2 else torch.arange(4)
            one = slice(step, step + 1)
            hidden = model.decode(
                inputs.tokens[rows, one],
                torch.tensor([[step + 2]]),
                inputs.segments[rows, one],
                memory,
                cache,
            )
    real = batch.target.mask[kept, 2]
    assert (model.log_probs(hidden[:, 0]) - whole[kept, 2])[real].abs().max() < 1e-5
