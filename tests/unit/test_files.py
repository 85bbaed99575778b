"""Writing is all or nothing."""

import os
import shutil
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from concatmt import files
from concatmt.errors import UserError
from concatmt.files import (
    atomic_file,
    atomic_folder,
    hash_file,
    is_stream,
    open_stream,
    read_json,
    remove_folder,
    write_json,
    write_text,
)


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


def die_while_writing(path: Path, folder: bool) -> None:
    """Write in a child process that is killed with its work half done."""
    child = os.fork()
    if not child:
        with atomic_folder(path, "marker") if folder else atomic_file(path) as temporary:
            (temporary / "marker" if folder else temporary).write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize("folder", [False, True])
def test_what_a_killed_process_left_is_removed_by_the_next_writer(
    tmp_path: Path, folder: bool
) -> None:
    die_while_writing(tmp_path / "d", folder)
    assert len(list(tmp_path.iterdir())) == 1
    if folder:
        with atomic_folder(tmp_path / "d", "marker") as temporary:
            (temporary / "marker").touch()
    else:
        write_text(tmp_path / "d", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize("folder", [False, True])
def test_a_restart_with_the_process_id_of_a_killed_one_can_write(
    tmp_path: Path, folder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 2)  # as in a container
    leftover = tmp_path / ".d.2.tmp"  # the name that earlier versions gave
    leftover.mkdir() if folder else leftover.touch()
    if folder:
        with atomic_folder(tmp_path / "d", "marker") as temporary:
            (temporary / "marker").touch()
    else:
        write_text(tmp_path / "d", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_two_live_writers_of_one_folder_leave_each_other_alone(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "d", "marker") as first:
        (first / "marker").write_text("first")
        with atomic_folder(tmp_path / "d", "marker") as second:
            (second / "marker").write_text("second")
        assert (tmp_path / "d" / "marker").read_text() == "second"
    assert (tmp_path / "d" / "marker").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize("renames", [0, 1, 2, 3])
@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_kill_between_the_renames_loses_neither_content(
    tmp_path: Path, renames: int, can_exchange: bool
) -> None:
    """The process dies instead of renaming for the nth time; where names cannot be exchanged
    there is a moment without the folder, and whoever reads it next puts it back."""
    path = tmp_path / "d"
    with atomic_folder(path, "marker.json") as folder:
        (folder / "marker.json").write_text('"old"')
    child = os.fork()
    if not child:
        if not can_exchange:
            files._exchange = lambda one, other: False  # type: ignore[assignment]
        rename, done = Path.rename, []

        def rename_or_die(self: Path, target: Path) -> Path:
            if len(done) == renames:
                os.kill(os.getpid(), signal.SIGKILL)
            done.append(target)
            return rename(self, target)

        Path.rename = rename_or_die  # type: ignore[method-assign]
        with atomic_folder(path, "marker.json") as folder:
            (folder / "marker.json").write_text('"new"')
        os._exit(0)
    _, status = os.waitpid(child, 0)
    new = can_exchange or renames >= 2
    assert os.waitstatus_to_exitcode(status) == (0 if new else -signal.SIGKILL)
    assert read_json(path / "marker.json", "thing") == ("new" if new else "old")
    with atomic_folder(path, "marker.json") as folder:
        (folder / "marker.json").write_text('"last"')
    assert read_json(path / "marker.json", "thing") == "last"
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_new_files_and_folders_have_the_usual_permissions(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "")
    (tmp_path / "usual").touch()
    with atomic_folder(tmp_path / "d", "marker"):
        pass
    (tmp_path / "usual folder").mkdir()
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert (tmp_path / "d").stat().st_mode == (tmp_path / "usual folder").stat().st_mode


def test_a_folder_that_is_removed_is_never_seen_half_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").touch()
    seen = []
    remove = shutil.rmtree
    monkeypatch.setattr(
        shutil, "rmtree", lambda path: (seen.append((tmp_path / "d").exists()), remove(path))
    )
    remove_folder(tmp_path / "d")
    assert seen == [False]
    assert not list(tmp_path.iterdir())


def test_a_link_is_followed_and_its_target_gets_the_text(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_the_permissions_of_a_file_that_is_replaced_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_a_fifo_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(path.read_text)
        write_text(path, "through")
        assert read.result(timeout=10) == "through"
    assert path.is_fifo()


def test_what_could_be_read_for_ever_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    os.mkfifo(path)
    for read in (hash_file, lambda fifo: read_json(fifo, "model directory")):
        with pytest.raises(UserError, match="not a regular file"):
            read(path)


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("device nodes cannot be made here")
    write_text(path, "to nowhere")
    assert path.is_char_device()
    assert [one.name for one in tmp_path.iterdir()] == ["null"]


def test_a_link_to_an_open_pipe_is_written_through(tmp_path: Path) -> None:
    # As /dev/stdout in a pipe: what the link leads to has no path of its own.
    reader, writer = os.pipe()
    link = tmp_path / "stdout"
    link.symlink_to(f"/proc/self/fd/{writer}")
    if not link.exists():
        pytest.skip("no /proc here")
    assert is_stream(link)
    write_text(link, "through")
    with open_stream(link) as file:
        file.write(" and through")
    os.close(writer)
    with os.fdopen(reader) as read:
        assert read.read() == "through and through"
    assert link.is_symlink()


def test_a_link_to_itself_is_an_error_of_the_system_with_its_name(tmp_path: Path) -> None:
    link = tmp_path / "loop"
    link.symlink_to("loop")
    with pytest.raises(OSError, match="Too many levels of symbolic links.*loop"):
        write_text(link, "x")


def test_names_of_files_that_are_not_text_are_written_and_read_again(tmp_path: Path) -> None:
    name = os.fsdecode(b"odd\xff")
    write_json(tmp_path / "f", {"file": name})
    assert read_json(tmp_path / "f", "a file") == {"file": r"odd\udcff"}
    write_text(tmp_path / "page", f"<p>{name}</p>")
    assert (tmp_path / "page").read_text("utf-8") == r"<p>odd\udcff</p>"
