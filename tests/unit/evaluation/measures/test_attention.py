"""Recomputed attention is the attention of the model, and its figures are what they say."""

import math
from typing import Any

import pytest
import torch

from concatmt.decoding.inputs import Part
from concatmt.decoding.loading import LoadedModel
from concatmt.errors import UserError
from concatmt.evaluation.measures.attention import (
    Window,
    attention_table,
    attention_use,
    attention_weights,
    windows_of,
)
from concatmt.model.transformer import Transformer
from tests.unit.decoding.models import write_model
from tests.unit.model.small_models import build, random_batch

SYSTEMS = ["base", "s4to4+shift5+pers", "s4to4+lrn+pers+pse", "s4to4+srope", "s4to4+sync"]
WINDOW = Window("one", [[5, 6], [7, 8, 9]], [[5], [6, 7]])


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


def uniform_model() -> Transformer:
    """A model whose queries are zero: it looks at everything alike."""
    model = build("s2to2")
    with torch.no_grad():
        for module in model.modules():
            if hasattr(module, "qkv"):
                module.qkv.weight[:16] = 0
                module.qkv.bias[:16] = 0
            elif hasattr(module, "q"):
                module.q.weight.zero_()
                module.q.bias.zero_()
    return model


def test_a_model_that_looks_at_everything_alike_has_the_uniform_figures() -> None:
    found = {(one.kind, one.layer): one for one in attention_use(uniform_model(), [WINDOW])}
    assert len(found) == 6
    for one in found.values():
        assert one.share.value == pytest.approx(one.uniform_share)
        assert one.entropy.value == pytest.approx(one.uniform_entropy)
        assert one.share.low is None  # one document has no interval
    # By hand. Source: 5 6 </s> 7 8 9 <end>, of which four are of the current sentence.
    assert found["encoder", 1].share.value == pytest.approx(4 / 7)
    assert found["cross", 2].share.value == pytest.approx(4 / 7)
    assert found["cross", 2].entropy.value == pytest.approx(math.log(7))
    # Decoder inputs: <end> 5 </s> 6 7; 6 sees one of its own among four, 7 two among five.
    assert found["decoder", 1].share.value == pytest.approx((1 / 4 + 2 / 5) / 2)
    assert found["decoder", 1].entropy.value == pytest.approx((math.log(4) + math.log(5)) / 2)


def test_what_stands_beside_a_window_in_a_batch_changes_nothing() -> None:
    model = build("s4to4+sin+pers")
    longer = Window("two", [[5] * 6] * 4, [[6] * 5] * 4)
    alone = attention_use(model, [WINDOW])
    together = attention_use(model, [WINDOW, longer])
    other = attention_use(model, [longer])
    for one, both, two in zip(alone, together, other, strict=True):
        mean = (one.share.value + two.share.value) / 2
        assert both.share.value == pytest.approx(mean, rel=1e-5)
        assert both.share.low is not None
    assert len(attention_table(together).rows) == 6


def test_windows_are_those_with_context_and_never_cross_documents(tmp_path: Any) -> None:
    model = LoadedModel.load(write_model(tmp_path / "model", "s3to3+shift4+pers"))
    parts = [
        Part(
            "a",
            source=["One .", "Two .", "", "Three .", "Four ."],
            gold=["Eins .", "Zwei .", "", "Drei .", "Vier ."],
        ),
        Part("b", source=["Five ."], gold=["Fünf ."]),
    ]
    windows = windows_of(model, parts)
    assert [(one.document, len(one.source), len(one.target)) for one in windows] == [
        ("a", 2, 2),
        ("a", 3, 3),
        ("a", 3, 3),
    ]
    with pytest.raises(UserError, match="no translations"):
        windows_of(model, [Part("a", source=["One ."])])
    with pytest.raises(UserError, match="no sentence has context"):
        attention_use(model.engine.model, [])
