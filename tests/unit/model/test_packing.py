"""Windows in one row without padding compute what windows in rows of their own do."""

import pytest
import torch

from concatmt.corpus.batch import WindowBatch
from concatmt.model import packing
from concatmt.model.packing import Packing, additive
from concatmt.model.transformer import Transformer
from tests.unit.model.small_models import SYSTEMS, build, log_probs, random_batch

every_system = pytest.mark.parametrize(
    "system", [system for system in SYSTEMS if system.startswith("s4to4")]
)
every_norm = pytest.mark.parametrize("norm", ["post", "pre"])


@every_system
@every_norm
def test_packed_windows_are_predicted_as_padded_ones(system: str, norm: str) -> None:
    model = build(system, norm=norm)
    batch = random_batch(model, rows=6)
    shifted, real = batch.target.shifted_right(), batch.target.mask
    lengths = batch.target.lengths.tolist()
    t = torch.arange(real.shape[1]).expand_as(real)[real][None] + 2
    masks = [additive(torch.ones(n, n, dtype=torch.bool).tril(), torch.float32) for n in lengths]
    with torch.no_grad():
        memory = model.encode_packed(batch.source, batch.sentences).for_targets(lengths)
        for order in (Packing(lengths, lengths, masks), Packing.in_order(lengths, masks[0])):
            hidden = model.decode(
                shifted.tokens[real][None], t, shifted.segments[real][None], memory, None, order
            )
            difference = model.log_probs(hidden[0]) - log_probs(model, batch)[real]
            assert difference.abs().max() < 1e-5


def from_filled_cache(model: Transformer, batch: WindowBatch, given: list[int]) -> torch.Tensor:
    """(B, V) log-probs after the decoder inputs 0 to `given`, all but the last by `fill`."""
    shifted = batch.target.shifted_right()
    first = torch.arange(shifted.tokens.shape[1]) < torch.tensor(given)[:, None]
    memory = model.encode_packed(batch.source, batch.sentences)
    cache = model.cache(2)
    model.fill(shifted.tokens[first][None], shifted.segments[first][None], given, memory, cache)
    at = torch.tensor(given)[:, None]
    visible = torch.arange(max(given) + 1) < at
    visible[:, -1] = True  # the step's own column
    hidden = model.decode(
        shifted.tokens.gather(1, at),
        at + 2,
        shifted.segments.gather(1, at),
        memory.padded(),
        cache,
        visible[:, None],
    )
    return model.log_probs(hidden[:, 0])


@every_system
@every_norm
def test_a_step_after_a_packed_prefix_equals_the_whole_window(system: str, norm: str) -> None:
    """The prefixes have different lengths, and one of them is empty."""
    model = build(system, norm=norm)
    batch = random_batch(model, rows=6)
    given = [0, *((length - 1) // 2 for length in batch.target.lengths[1:].tolist())]
    with torch.no_grad():
        found = from_filled_cache(model, batch, given)
    wanted = log_probs(model, batch)[torch.arange(6), torch.tensor(given)]
    assert (found - wanted).abs().max() < 1e-5


@pytest.mark.parametrize("with_mask", [False, True])
def test_a_window_with_too_many_scores_for_one_go_is_attended_to_in_slices(
    with_mask: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = [5, 17]
    q, k, v = torch.randn(3, 1, 2, sum(lengths), 8, generator=torch.Generator().manual_seed(1))
    order = Packing.in_order(lengths, q) if with_mask else Packing(lengths, lengths)
    whole = order.attend(q, k, v)
    monkeypatch.setattr(packing, "MOST_SCORES", 3 * 2 * 17)  # three queries of the longer window
    assert torch.allclose(order.attend(q, k, v), whole, atol=1e-6)
