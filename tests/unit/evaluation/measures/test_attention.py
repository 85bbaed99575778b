"""The figures of attention are what they say."""

import math
from typing import Any

import pytest
import torch

from concatmt.corpus.parts import Part
from concatmt.decoding.loading import LoadedModel
from concatmt.errors import UserError
from concatmt.evaluation.measures.attention import (
    Window,
    attention_of,
    attention_table,
    attention_use,
    windows_of,
)
from concatmt.model.transformer import Transformer
from tests.unit.decoding.models import write_model
from tests.unit.model.small_models import build

WINDOW = Window("one", [[5, 6], [7, 8, 9]], [[5], [6, 7]])


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


def test_other_windows_in_a_batch_change_nothing() -> None:
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


def test_the_signature_says_how_many_sentences_a_window_has(tmp_path: Any) -> None:
    model = LoadedModel.load(write_model(tmp_path / "model", "s3to3"))
    part = Part("d", source=["One.", "Two.", "Three."], gold=["Eins.", "Zwei.", "Drei."])
    signature, _ = attention_of(model, [part])
    assert signature.values["K"] == 3
    assert signature.values["windows"] == 2
