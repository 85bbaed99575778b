"""Writing is all or nothing."""

import os
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.files import atomic_file, atomic_folder


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
    assert path.read_text() == "old"


def test_a_folder_takes_the_place_of_one_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "d"
    for content in ("one", "two"):
        with atomic_folder(path, "marker") as folder:
            (folder / "marker").write_text(content)
    assert (path / "marker").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_folder_of_another_kind_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "precious").write_text("x")
    with (
        pytest.raises(UserError, match="exists and has no marker"),
        atomic_folder(tmp_path / "d", "marker"),
    ):
        pass
    assert (tmp_path / "d" / "precious").read_text() == "x"


def test_what_a_killed_process_left_is_removed_and_a_live_ones_kept(tmp_path: Path) -> None:
    dead, live = tmp_path / ".d.999999999.tmp", tmp_path / f".d.{os.getppid()}.tmp"
    dead.mkdir()
    live.mkdir()
    with atomic_folder(tmp_path / "d", "marker") as folder:
        (folder / "marker").touch()
    assert not dead.exists()
    assert live.exists()
