"""The figures' numbers, and what is told when they cannot be drawn."""

import sys
from pathlib import Path

import numpy as np
import pytest

from concatmt.errors import UserError
from concatmt.paper.encoding_figures import (
    components_for,
    draw_encoding,
    draw_pca,
    encoding_matrix,
    explained_variance,
)


def test_less_than_half_of_the_components_explain_all_variance() -> None:
    """The paper's figure of 1024 positions in 512 dimensions (section 2.3)."""
    shares = explained_variance()
    assert len(shares) == 512
    assert np.all(np.diff(shares) >= -1e-12)
    assert shares[-1] == pytest.approx(1)
    assert shares[255] == pytest.approx(1, abs=1e-9)
    assert components_for(0.999999) < 256


def test_the_matrix_of_an_encoding_has_a_row_per_token_of_the_window() -> None:
    matrix, segments = encoding_matrix("onehot", "pse")
    assert matrix.shape == (34, 32)
    assert segments == [4] * 9 + [3] * 6 + [2] * 11 + [1] * 8
    assert matrix[:, 28:].argmax(axis=1).tolist() == [k - 1 for k in segments]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_figure_is_the_same_file_each_time(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = [tmp_path / f"{i}{suffix}" for i in range(2)]
    for file in files:
        draw_encoding("learned", file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_missing_extra_or_an_unknown_format_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"cannot draw \.jpg"):
        draw_pca(tmp_path / "pca.jpg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install 'concatmt\[plots\]'"):
        draw_pca(tmp_path / "pca.png")
    assert not list(tmp_path.iterdir())
