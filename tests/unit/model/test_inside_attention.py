"""Encodings inside attention: rotations and biases. Expected values follow from the papers."""

import cmath

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from concatmt.model.encodings import EncodingConfig, EncodingSizes, build_encoding
from concatmt.model.systems import parse_system, system_name
from concatmt.model.views import Place
from tests.unit.model.small_models import build, log_probs, random_batch

WIDTH = 8
PLACES = st.tuples(st.integers(2, 400), st.integers(1, 4))


def place(*tokens: tuple[int, int]) -> Place:
    """Tokens at (t, k) of one window of four sentences."""
    t, k = (torch.tensor([values]) for values in zip(*tokens, strict=True))
    return Place(t, k, torch.tensor([[4]]))


def turned(kind: str, vector: list[float], at: tuple[int, int]) -> torch.Tensor:
    encoding = build_encoding(EncodingConfig(kind=kind), EncodingSizes(WIDTH, 4))
    rotation = encoding.rotation("decoder", place(at), WIDTH)
    return rotation.turn(torch.tensor(vector)[None, None, None])[0, 0, 0]


@given(PLACES, st.lists(st.floats(-3, 3, width=32), min_size=WIDTH, max_size=WIDTH))
def test_rope_multiplies_complex_numbers_by_those_of_the_position(
    at: tuple[int, int], vector: list[float]
) -> None:
    """Su et al. (2021), equation 12: x_j e^(i t theta_j), theta_j = 10000^(-2j/d)."""
    half = WIDTH // 2
    pairs = [complex(vector[j], vector[j + half]) for j in range(half)]
    wanted = [x * cmath.exp(1j * at[0] * 10000 ** (-2 * j / WIDTH)) for j, x in enumerate(pairs)]
    found = turned("rotary", vector, at).tolist()
    assert found == pytest.approx([z.real for z in wanted] + [z.imag for z in wanted], abs=1e-4)


@given(PLACES, st.integers(0, 300), st.integers(0, 3))
def test_scores_under_srope_know_distances_in_tokens_and_sentences_alone(
    at: tuple[int, int], tokens: int, sentences: int
) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, WIDTH, generator=generator).tolist()

    def score(t: int, segment: int) -> float:
        query = turned("sentence-rotary", q, (t + tokens, segment + sentences))
        return float(query @ turned("sentence-rotary", k, (t, segment)))

    assert score(*at) == pytest.approx(score(2, 1), abs=1e-4)


def test_sentences_that_are_further_away_change_scores_under_srope_but_not_under_rope() -> None:
    vector = [1.0] * WIDTH
    for kind, equal in (("rotary", True), ("sentence-rotary", False)):
        assert torch.equal(turned(kind, vector, (9, 1)), turned(kind, vector, (9, 2))) is equal


def test_the_slopes_of_alibi_are_those_of_its_paper() -> None:
    """Press et al. (2022), section 3: for eight heads 1/2, 1/4, ..., 1/256."""
    encoding = build_encoding(EncodingConfig(kind="alibi"), EncodingSizes(WIDTH, 4))
    bias = encoding.bias("encoder", place((9, 1)), place((4, 2), (9, 1), (12, 1)), 8)
    assert bias.shape == (1, 8, 1, 3)
    for head in range(8):
        assert bias[0, head, 0].tolist() == [-5 / 2 ** (head + 1), 0, -3 / 2 ** (head + 1)]


def test_sync_falls_with_the_distance_in_sentences_and_starts_at_the_first() -> None:
    sizes = EncodingSizes(WIDTH, 4, heads=(2, 2))
    encoding = build_encoding(EncodingConfig(kind="sync"), sizes)
    source = place((2, 4), (3, 3), (4, 2), (5, 1))
    bias = encoding.bias("cross", place((2, 1), (5, 4), (9, 2)), source, 2)[0, 0].detach()
    slope = 2.0**-4  # of the first of two heads
    # The first decoder input has k = 1 and predicts the first of four sentences.
    assert (bias / -slope).tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [2, 1, 0, 1]]
    own = encoding.bias("decoder", place((2, 1)), source, 2)[0, 0].detach()
    assert (own / -slope).tolist() == [[3, 2, 1, 0]]


def test_sync_can_start_as_a_no_op() -> None:
    config = EncodingConfig(kind="sync", segment_init="zero")
    assert not any(p.any() for p in build_encoding(config, EncodingSizes(16, 4)).parameters())
    plain, sync = build("s4to4"), build("s4to4+sync")
    with torch.no_grad():
        for slopes in sync.encoding.slopes.values():
            slopes.zero_()
    sync.load_state_dict({**sync.state_dict(), **plain.state_dict()})
    batch = random_batch(plain)
    assert (log_probs(sync, batch) - log_probs(plain, batch)).abs().max() < 1e-6


@pytest.mark.parametrize("name", ["s4to4+rope", "s4to4+cd+srope", "base+alibi", "s2to2+sync+pers"])
def test_they_are_parts_of_systems_names(name: str) -> None:
    assert system_name(parse_system(name)) == name
