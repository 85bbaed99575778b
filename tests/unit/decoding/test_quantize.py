"""Layers in int8."""

import torch

from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import SearchConfig
from concatmt.decoding.pool import PoolConfig, translate_windows
from concatmt.decoding.quantize import (
    PART,
    ROWS,
    QuantizedLinear,
    WideQuantizedLinear,
    quantize_positive_rows,
    quantize_rows,
)
from tests.unit.decoding.models import make_model, make_windows


def test_the_error_is_that_of_rounding_to_eight_bits() -> None:
    torch.manual_seed(0)
    weight, bias, x = torch.randn(96, 64), torch.randn(96), torch.randn(20, 64)
    wanted = torch.nn.functional.linear(x, weight, bias)
    error = QuantizedLinear(weight, bias)(x) - wanted
    # Two roundings of relative size 1 / 254 at most; in the mean over 64 products far less.
    assert float(error.abs().max()) < 0.03 * float(wanted.abs().max())


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(0)
    layer = QuantizedLinear(torch.randn(40, 64), None)
    x = torch.randn(9, 64) * torch.logspace(-3, 3, 9)[:, None]
    alone = torch.cat([layer(row[None]) for row in x])
    torch.testing.assert_close(layer(x), alone, rtol=1e-5, atol=0)


def test_levels_are_the_nearest_of_255_around_128() -> None:
    x = torch.tensor([[-2.0, -1.0, -0.001, 0.0, 0.012, 1.0, 2.0], [0.0] * 7])
    levels, peaks = quantize_rows(x)
    assert levels.tolist() == [[1, 64, 128, 128, 129, 192, 255], [128] * 7]
    assert float(peaks[0]) == 2


def test_positive_rows_need_no_offset() -> None:
    levels, peaks = quantize_positive_rows(torch.tensor([[0.0, 0.012, 1.0, 2.0], [0.0] * 4]))
    assert levels.tolist() == [[0, 1, 64, 127], [0] * 4]
    assert float(peaks[0]) == 2


def test_a_layer_of_positive_values_computes_the_same() -> None:
    torch.manual_seed(0)
    weight, bias, x = torch.randn(96, 64), torch.randn(96), torch.rand(20, 64)
    positive = QuantizedLinear(weight, bias, positive=True)(x)
    torch.testing.assert_close(positive, QuantizedLinear(weight, bias)(x), rtol=1e-4, atol=1e-4)


def test_many_rows_are_the_same_as_few() -> None:
    torch.manual_seed(0)
    layer = QuantizedLinear(torch.randn(24, 16), torch.randn(24))
    x = torch.randn(2, ROWS, 16)
    assert torch.equal(layer(x), torch.stack([layer(x[0]), layer(x[1])]))


def test_a_wide_layer_in_parts_is_the_layer_as_a_whole() -> None:
    torch.manual_seed(0)
    weight, x = torch.randn(PART + 64, 16), torch.randn(5, 16)
    wide = WideQuantizedLinear(weight)
    wanted = QuantizedLinear(weight, None)(x)
    assert torch.equal(wide(x), wanted)
    assert torch.equal(wide(x[:2]), wanted[:2])  # in memory that has been used


def test_a_quantised_model_translates_and_the_model_stays_as_it_was() -> None:
    model = make_model("s4to4+lrn+pers")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    windows = make_windows(5, 4)
    engine = Engine(model, int8=True)
    found = translate_windows(engine, windows, SearchConfig(), PoolConfig())
    assert [len(h[0].sentences) for h in found] == [len(w.source) for w in windows]
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
