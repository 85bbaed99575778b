"""Recomputed attention is the attention of the model."""

from typing import Any

import pytest
import torch

from concatmt.model.attention_weights import attention_weights
from concatmt.model.transformer import Transformer
from tests.unit.model.small_models import build, random_batch

SYSTEMS = ["base", "s4to4+shift5+pers", "s4to4+lrn+pers+pse", "s4to4+srope", "s4to4+sync"]


def values_and_outputs(model: Transformer, run: Any) -> list[tuple[Any, Any]]:
    """Values (B, H, S, D / H) and output of every attention call of `run`."""
    seen: list[tuple[Any, Any]] = []

    def hook(module: Any, arguments: Any, output: Any) -> None:
        if hasattr(module, "qkv"):
            values = module.split(module.qkv(arguments[0]).chunk(3, dim=-1)[2])
        else:
            values = arguments[1][1]
        seen.append((values, output))

    modules = [m for m in model.modules() if hasattr(m, "attend")]
    handles = [module.register_forward_hook(hook) for module in modules]
    run()
    for handle in handles:
        handle.remove()
    return seen


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_recomputed_weights_give_the_output_of_the_real_blocks(system: str, norm: str) -> None:
    model = build(system, norm=norm)
    batch = random_batch(model)
    with torch.no_grad():
        weights = list(attention_weights(model, batch))
        real = values_and_outputs(model, lambda: model(batch))
        assert len(weights) == len(real) == 6
        for (_, _, ours), (values, output) in zip(weights, real, strict=True):
            again = (ours @ values).transpose(1, 2).flatten(2)
            torch.testing.assert_close(again, output, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(ours.sum(dim=3), torch.ones(ours.shape[:3]))


def test_no_observer_stays_behind() -> None:
    model = build("s4to4")
    with torch.no_grad():
        list(attention_weights(model, random_batch(model)))
    assert not any(getattr(module, "observer", None) for module in model.modules())


def test_what_is_asked_for_is_what_comes() -> None:
    model = build("s4to4")
    batch = random_batch(model)
    with torch.no_grad():
        every = {(kind, layer): w for kind, layer, w in attention_weights(model, batch)}
        ((kind, layer, weights),) = attention_weights(model, batch, ("cross",), layer=2)
    assert (kind, layer) == ("cross", 2)
    torch.testing.assert_close(weights, every["cross", 2])
