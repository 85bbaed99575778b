"""Layers that leave their biases to others compute what the model's own do."""

import pytest
import torch

from concatmt.decoding.engine import Engine
from concatmt.decoding.float32_layers import LinearByColumns
from concatmt.model.packing import Packing
from concatmt.model.products import Library, using
from tests.unit.model.small_models import build, log_probs, random_batch


@pytest.mark.parametrize("library", ["blas", "onednn"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("system", ["s4to4", "s4to4+rope", "s4to4+srope", "s4to4+sync"])
def test_large_biases_have_their_effect(system: str, norm: str, library: Library) -> None:
    model = build(system, norm=norm)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.5)
    batch = random_batch(model, rows=6)
    shifted, real = batch.target.shifted_right(), batch.target.mask
    lengths = batch.target.lengths.tolist()
    with using(library):
        engine = Engine(model)
    with torch.inference_mode():
        t = torch.arange(real.shape[1]).expand_as(real)[real][None] + 2
        hidden = engine.decode(
            shifted.tokens[real][None],
            t,
            shifted.segments[real][None],
            engine.encode(batch.source, batch.sentences).for_targets(lengths),
            None,
            Packing.in_order(lengths, model.output.weight),
        )
        found = engine.all_log_probs(hidden[0])
    assert (found - log_probs(model, batch)[real]).abs().max() < 1e-4


def test_few_biases_are_left() -> None:
    model = build("s4to4")
    with using("blas"):
        layers = dict(Engine(model).model.named_modules())
    left = {
        name.split(".", 2)[2]: len(layer.bias)
        for name, layer in layers.items()
        if isinstance(layer, LinearByColumns) and name.startswith("decoder.0")
    }
    dim = model.config.architecture.dim
    assert left["self_attention.qkv"] == dim  # of queries alone
    assert left["cross_attention.q"] == dim
    assert left["cross_attention.kv"] == 0
    assert left["self_attention.output"] == left["cross_attention.output"] == dim


def test_keys_that_are_turned_keep_their_biases() -> None:
    model = build("s4to4+rope")
    dim = model.config.architecture.dim
    with using("blas"):
        block = Engine(model).model.decoder[0]
    assert len(block.self_attention.qkv.bias) == 2 * dim
    assert len(block.cross_attention.kv.bias) == 0


def test_a_bias_that_is_left_to_the_next_layer_comes_out_of_it() -> None:
    torch.manual_seed(1)
    first, second = torch.nn.Linear(6, 20), torch.nn.Linear(20, 6)
    x, residual = torch.randn(3, 4, 6), torch.randn(3, 4, 6)
    with torch.inference_mode():
        wanted = residual + second(first(x).relu())
        before, after = LinearByColumns(first), LinearByColumns(second)
        assert torch.allclose(before(x), first(x), atol=1e-6)
        assert torch.allclose(
            before.activated(x, "relu").view(3, 4, 20), first(x).relu(), atol=1e-6
        )
        before.leave_to(after)
        assert torch.allclose(
            after.onto(residual, before.activated(x, "relu"), 0.0), wanted, atol=1e-6
        )
