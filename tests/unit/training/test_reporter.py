"""What the console and curves.svg show says which loss it is."""

import os
from pathlib import Path

import pytest

from concatmt.training.reporter import draw_curves
from concatmt.training.run import Run
from concatmt.training.train import train
from tests.unit.training.tiny import make_data, make_task


@pytest.mark.parametrize(
    ("smoothing", "name"), [(0.1, "label-smoothed (0.1) loss"), (0.0, "loss (NLL)")]
)
def test_lines_and_curves_name_the_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], smoothing: float, name: str
) -> None:
    pytest.importorskip("matplotlib")
    task = make_task(make_data(tmp_path), loss={"label_smoothing": smoothing})
    assert train(task, tmp_path / "run")
    said = capsys.readouterr().err
    [line] = [one for one in said.splitlines() if ", update 5:" in one]
    assert f"update 5: {name} " in line
    [valid] = [one for one in said.splitlines() if one.startswith("validation at update 20:")]
    assert f"{name}, discounted, " in valid
    assert "; NLL, current, " in valid
    # matplotlib draws letters, and leaves the text in a comment.
    curves = tmp_path / "run" / "curves.svg"
    assert f"<!-- {name}, nats a token -->" in curves.read_text("utf-8")
    # A pipe in their place is replaced: nobody reads from it.
    curves.unlink()
    os.mkfifo(curves)
    assert draw_curves(Run(tmp_path / "run"))
    assert curves.is_file()
    # A folder in their place is refused, and no drawing is left beside it.
    curves.unlink()
    curves.mkdir()
    with pytest.raises(OSError, match="curves.svg"):
        draw_curves(Run(tmp_path / "run"))
    assert not list((tmp_path / "run").glob("*.tmp"))
