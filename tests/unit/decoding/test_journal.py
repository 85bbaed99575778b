"""The journal of a translation: what is kept of it, by whom, and how it ends."""

import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from concatmt.decoding import journal as journal_module
from concatmt.decoding.journal import Entry, Journal, Shard
from concatmt.decoding.translation import History, Report
from concatmt.errors import UserError
from concatmt.signature import Signature

SIGNATURE = Signature({"model": "a"})


def entry(name: str, text: str) -> Entry:
    return Entry(name, Report(), History([[1, 2]], [[3]]), text)


def open_journal(folder: Path, shard: Shard | None = None, resume: bool = True) -> Journal:
    return Journal(folder / "out", SIGNATURE, shard or Shard(), resume)


def test_a_chunk_is_read_as_it_was_written(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.write(0, entry("a", "ä\u2028\nx\n"))
        assert journal.read(0, "a") == entry("a", "ä\u2028\nx\n")
        assert journal.read(1, "b") is None
        with pytest.raises(UserError, match="the input has changed"):
            journal.read(0, "b")


def test_no_change_of_a_chunk_is_taken_for_a_translation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_journal(tmp_path) as journal:
        journal.write(0, entry("a", "one\ntwo\n"))
        path = journal.path(0)
        content = path.read_bytes()
        changed = [content[:length] for length in range(len(content))]
        for place in range(len(content)):
            changed.append(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        for damaged in changed:
            path.write_bytes(damaged)
            assert journal.read(0, "a") is None
    assert capsys.readouterr().err.count("damaged; translating it again") == len(changed)


def test_the_chunks_of_a_process_that_was_damaged_and_left_are_not_joined(tmp_path: Path) -> None:
    with open_journal(tmp_path, Shard(0, 2, "s")) as first:
        second = open_journal(tmp_path, Shard(1, 2, "s"))
        first.write(0, entry("a", "one\n"))
        second.write(1, entry("b", "two\n"))
        second.leave()
        first.path(1).write_bytes(first.path(1).read_bytes()[:-2])
        with pytest.raises(UserError, match="00000001.chunk: was lost or damaged"):
            first.join([("a", 0), ("b", 1)], "")
        assert not (tmp_path / "out").exists()


def test_joining_waits_for_a_chunk_that_another_process_translates_again(tmp_path: Path) -> None:
    with open_journal(tmp_path, Shard(0, 2, "s")) as first:
        second = open_journal(tmp_path, Shard(1, 2, "s"))
        first.path(0).write_text("damaged")

        def translate() -> None:
            second.write(0, entry("a", "one\n"))
            second.leave()

        timer = threading.Timer(0.1, translate)
        timer.start()
        first.join([("a", 1)], "head\n")
        timer.join()
    assert (tmp_path / "out").read_text() == "head\none\n"


def test_a_kill_in_the_clean_up_leaves_no_chunks_for_another_model(tmp_path: Path) -> None:
    """The process dies after each removal of a file; what is left is whole or out of the way."""
    for removals in range(4):
        folder = tmp_path / str(removals)
        folder.mkdir()
        child = os.fork()
        if not child:
            die_in_clean_up(folder, removals)
        os.waitpid(child, 0)
        assert (folder / "out").read_text() == "old\n"
        with Journal(folder / "out", Signature({"model": "b"}), Shard(), resume=True) as journal:
            assert journal.read(0, "a") is None
            journal.write(0, entry("a", "new\n"))
            journal.join([("a", 0)], "")
        assert (folder / "out").read_text() == "new\n"
        assert [path.name for path in folder.iterdir()] == ["out"]


def die_in_clean_up(folder: Path, removals: int) -> None:
    """Finish a translation, but die when so many files of the journal are removed."""

    def remove(path: Path) -> None:
        for number, file in enumerate(sorted(path.iterdir(), reverse=True)):
            if number == removals:
                os.kill(os.getpid(), signal.SIGKILL)
            file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)

    shutil.rmtree = remove  # type: ignore[assignment]
    journal = open_journal(folder)
    journal.write(0, entry("a", "old\n"))
    journal.join([("a", 0)], "")


def test_a_second_process_is_refused_and_a_later_one_is_not(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.write(0, entry("a", "one\n"))
        with pytest.raises(UserError, match="out: another process is translating to it"):
            open_journal(tmp_path, Shard(start="another"))
    with open_journal(tmp_path) as journal:
        assert journal.read(0, "a") is not None


def test_processes_that_are_started_later_by_a_parent_of_the_same_id_are_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getppid", lambda: 1)
    first = Shard.from_environment()
    assert Shard.from_environment() == first
    started = Path("/proc/1/stat").read_text()
    later = started.rpartition(")")[2].split()
    later[19] = str(int(later[19]) + 1)
    monkeypatch.setattr(
        journal_module.Path, "read_text", lambda *_, **__: f"1 (init) {' '.join(later)}"
    )
    assert Shard.from_environment() != first


def test_a_chunk_takes_the_place_of_what_is_no_file(tmp_path: Path) -> None:
    """A FIFO there would otherwise be waited for when it is read, and again when it is written."""
    journal = open_journal(tmp_path)
    os.mkfifo(journal.path(0))
    assert journal.read(0, "hash") is None
    journal.write(0, entry("hash", "text\n"))
    found = journal.read(0, "hash")
    assert found is not None
    assert found.text == "text\n"


def test_a_chunk_that_counts_other_things_is_translated_again(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.write(0, entry("a", "x\n"))
        content = journal.path(0).read_bytes().partition(b"\n")[2]
        content = content.replace(b'"sentences"', b'"paragraphs"')
        journal.path(0).write_bytes(journal_module._digest(content) + b"\n" + content)
        assert journal.read(0, "a") is None


@pytest.mark.parametrize(("rank", "count"), [("2", "2"), ("7", "2"), ("1", "1")])
def test_a_rank_beyond_the_number_of_processes_is_refused(
    monkeypatch: pytest.MonkeyPatch, rank: str, count: str
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", count)
    with pytest.raises(UserError, match=f"RANK={rank}, but WORLD_SIZE={count}"):
        Shard.from_environment()
