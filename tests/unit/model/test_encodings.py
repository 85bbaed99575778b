"""The encodings' own laws. Expected values follow from the formulas of docs/encodings.md."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from concatmt.corpus.batch import WindowBatch
from concatmt.model.encodings import (
    EncodingConfig,
    EncodingSizes,
    Signal,
    build_encoding,
    sinusoid,
)
from tests.unit.model.small_models import ENCODINGS, build, log_probs, random_batch

DIM = 12
POSITIONS = st.lists(st.integers(2, 5000), min_size=1, max_size=8)
SEGMENTS = ["onehot", "sinusoidal", "learned"]


def signal(t: list[int], k: list[int], n: int, shift: int = 0, **config: Any) -> Signal:
    torch.manual_seed(0)
    encoding = build_encoding(EncodingConfig(**config), EncodingSizes(DIM, 4, shift))
    return encoding(torch.tensor([t]), torch.tensor([k]), torch.tensor([[n]]))


def formula(position: int, dim: int) -> list[float]:
    half = dim // 2
    angles = [position * 10000 ** (-i / max(half - 1, 1)) for i in range(half)]
    zero = [0.0] if dim % 2 else []
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles] + zero


@given(POSITIONS, st.integers(2, 33))
def test_the_sinusoid_is_the_formula(positions: list[int], dim: int) -> None:
    for position, row in zip(positions, sinusoid(torch.tensor(positions), dim), strict=True):
        assert row.tolist() == pytest.approx(formula(position, dim), abs=1e-6)


def test_the_smallest_dimensions_have_a_sinusoid() -> None:
    """fairseq divides by zero at two and three dimensions."""
    assert sinusoid(torch.tensor([2]), 2)[0].tolist() == pytest.approx([math.sin(2), math.cos(2)])
    assert sinusoid(torch.tensor([2]), 1)[0].tolist() == [0.0]


@given(POSITIONS, st.integers(1, 4))
def test_none_is_the_sinusoid_of_the_token_position(t: list[int], n: int) -> None:
    vectors = signal(t, [1] * len(t), n)
    assert torch.equal(vectors.input[0], sinusoid(torch.tensor(t), DIM))
    assert vectors.block is None


@given(st.data(), POSITIONS, st.integers(1, 4))
def test_shift_moves_each_sentence_but_never_the_first_position(
    data: st.DataObject, t: list[int], n: int
) -> None:
    k = data.draw(st.lists(st.integers(1, n), min_size=len(t), max_size=len(t)))
    moved = [p if p == 2 else p + (n - s) * 7 for p, s in zip(t, k, strict=True)]
    vectors = signal(t, k, n, kind="shift", shift=7)
    assert torch.equal(vectors.input[0], sinusoid(torch.tensor(moved), DIM))


@given(st.data(), POSITIONS, st.integers(1, 4))
def test_shift_zero_equals_none(data: st.DataObject, t: list[int], n: int) -> None:
    k = data.draw(st.lists(st.integers(1, n), min_size=len(t), max_size=len(t)))
    shifted = signal(t, k, n, kind="shift", shift=0, persistent=True)
    plain = signal(t, k, n, persistent=True)
    assert torch.equal(shifted.input, plain.input)
    assert torch.equal(shifted.block, plain.block)


@pytest.mark.parametrize("kind", SEGMENTS)
@given(t=POSITIONS, k=st.integers(1, 4))
def test_added_segments_are_positions_plus_a_vector_of_the_segment(
    kind: str, t: list[int], k: int
) -> None:
    vectors = signal(t, [k] * len(t), 4, kind=kind, persistent=True)
    assert torch.allclose(
        vectors.input - sinusoid(torch.tensor([t]), DIM), vectors.block, atol=1e-6
    )
    assert torch.equal(vectors.block, vectors.block[:, :1].expand_as(vectors.block))


@pytest.mark.parametrize("kind", SEGMENTS)
@given(t=POSITIONS, k=st.integers(1, 4), dim=st.integers(4, DIM - 1))
def test_pse_is_the_sinusoid_at_its_own_dimension_beside_the_segment(
    kind: str, t: list[int], k: int, dim: int
) -> None:
    vectors = signal(t, [k] * len(t), 4, kind=kind, fusion="pse", segment_dim=dim, persistent=True)
    positions, segments = vectors.input[0].split([DIM - dim, dim], dim=-1)
    assert torch.equal(positions, sinusoid(torch.tensor(t), DIM - dim))
    assert torch.equal(segments, segments[:1].expand_as(segments))
    assert torch.equal(vectors.block, vectors.input)


@given(st.integers(1, 4), st.integers(4, DIM - 1))
def test_one_hot_of_pse_occupies_the_last_dimensions(k: int, dim: int) -> None:
    vectors = signal([9], [k], 4, kind="onehot", fusion="pse", segment_dim=dim)
    expected = [float(i == k - 1) for i in range(dim)]
    assert vectors.input[0, 0, -dim:].tolist() == expected


def test_sinusoidal_segments_of_four_dimensions_are_as_published() -> None:
    """With d_SE = 4: [sin k, sin(k / 10^4), cos k, cos(k / 10^4)]."""
    for k in range(1, 5):
        vectors = signal([9], [k], 4, kind="sinusoidal", fusion="pse")
        expected = [math.sin(k), math.sin(k / 1e4), math.cos(k), math.cos(k / 1e4)]
        assert vectors.input[0, 0, -4:].tolist() == pytest.approx(expected, abs=1e-6)


def test_learned_segments_can_start_as_a_no_op() -> None:
    plain, learned = build("s4to4+pers"), build("s4to4+lrn+pers")
    learned.load_state_dict({**plain.state_dict(), "encoding.weight": torch.zeros(4, 16)})
    config = EncodingConfig(kind="learned", segment_init="zero")
    assert not build_encoding(config, EncodingSizes(16, 4)).weight.any()
    batch = random_batch(plain)
    unencoded = build("s4to4")
    unencoded.load_state_dict(plain.state_dict())
    assert torch.equal(log_probs(learned, batch), log_probs(unencoded, batch))


def test_learned_pse_reads_the_live_parameter() -> None:
    """The authors' implementation builds its table once, so that it never trains."""
    model = build("s4to4+lrn+pse")
    batch = random_batch(model)
    before = log_probs(model, batch)
    with torch.no_grad():
        model.encoding.weight += 1
    assert (log_probs(model, batch) - before).abs().max() > 1e-3


@pytest.mark.parametrize(
    "encoding", [e for e in ENCODINGS if "1hot" in e or "sin" in e or "lrn" in e]
)
def test_with_one_sentence_a_segment_encoding_is_a_constant_beside_the_positions(
    encoding: str,
) -> None:
    model = build("base" + encoding)
    k = torch.ones(1, 6, dtype=torch.long)
    t, n = torch.arange(6)[None] + 2, torch.ones(1, 1, dtype=torch.long)
    vectors = model.encoding(t, k, n)
    width = 12 if "pse" in encoding else 16
    constant = vectors.input[0].clone()
    constant[:, :width] -= sinusoid(t[0], width)
    assert torch.allclose(constant, constant[:1].expand_as(constant), atol=1e-6)


@given(st.sampled_from(ENCODINGS), st.integers(1, 4), st.lists(st.integers(2, 90), min_size=2))
def test_shapes_broadcast_and_a_step_equals_the_whole(encoding: str, n: int, t: list[int]) -> None:
    encode = build("s4to4" + encoding).encoding
    k = [1 + i % n for i in range(len(t))]
    whole = encode(torch.tensor([t]), torch.tensor([k]), torch.tensor([[n]]))
    for i, (position, segment) in enumerate(zip(t, k, strict=True)):
        one = encode(torch.tensor(position), torch.tensor(segment), torch.tensor(n))
        assert torch.equal(one.input, whole.input[0, i])
        assert (one.block is None) == (whole.block is None)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_positions_beyond_1024_neither_fail_nor_repeat(encoding: str) -> None:
    """The authors' PSE table aliases there: position 1026 of segment 1 is position 2 of 2."""
    model = build("s2to2" + encoding)
    long = WindowBatch.from_lists([[[5] * 700, [6] * 600]], [[[7] * 650, [8] * 650]])
    assert log_probs(model, long).isfinite().all()
    t = torch.tensor([[1026, 2, 5000]])
    first = model.encoding(t, torch.tensor([[1, 2, 1]]), torch.tensor([[2]])).input[0]
    assert (first[0] - first[1]).abs().max() > 0.1
    width = 12 if "pse" in encoding else 16
    if "shift" not in encoding:
        rest = first[:, :width] - sinusoid(t[0], width)
        assert torch.allclose(rest[0], rest[2], atol=1e-6)
