"""`concatmt prepare`, `stats` and `show` through the command line, good and bad input."""

import filecmp
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Command

CONFIG = """
languages: {source: en, target: de}
text: {kind: whitespace}
corpus:
  splits:
    train: [{format: text, source: train.en, target: train.de}]
    valid: [{format: text, source: valid.en, target: valid.de}]
  max_tokens: 20
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "c.yaml").write_text(CONFIG)
    for split in ("train", "valid"):
        (tmp_path / f"{split}.en").write_text("a b c\nd\n\ne f\n")
        (tmp_path / f"{split}.de").write_text("x y\nz\n\nw\n")
    return tmp_path


def files_of(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def check_same(first: Path, second: Path) -> None:
    names = files_of(first)
    assert names == files_of(second)
    assert filecmp.cmpfiles(first, second, names, shallow=False)[0] == names


def test_prepare_prints_the_table_and_stats_prints_it_again(
    corpus: Path, concatmt: Command
) -> None:
    prepared = concatmt("prepare", "c.yaml", "--output", "store")
    assert prepared.returncode == 0, prepared.stderr
    row = (
        "| train  | source | 2    | 3     | 1.5 / 0.5 / 2 | 2.0 / 0.8 / 3 | 2.0 / 0.8 / 3        |"
    )
    assert row in prepared.stdout
    assert row in concatmt("inspect", "stats", "store").stdout
    assert row in concatmt("inspect", "stats", "store", "--verify").stdout


def test_a_corpus_without_boundaries_is_prepared_with_a_warning_that_names_the_remedy(
    corpus: Path, concatmt: Command
) -> None:
    for side in ("en", "de"):
        (corpus / f"train.{side}").write_text("a b\n" * 400)
    warning = "warning: corpus.splits.train: train.en, train.de: all 400 sentences are one document"
    done = concatmt("prepare", "c.yaml", "--output", "store")
    assert done.returncode == 0
    assert f"{warning}; format 'text' needs blank lines" in done.stderr
    (corpus / "train.docs").write_text("".join(f"{n // 10}\n" for n in range(400)))
    done = concatmt("prepare", "c.yaml", "--output", "store")
    assert f"{warning}; train.docs beside it looks like its boundaries: " in done.stderr
    ids = "corpus.splits.train=[{format: ids, source: train.en, target: train.de, ids: train.docs}]"
    done = concatmt("prepare", "c.yaml", "--output", "store", "--set", ids)
    assert "warning" not in done.stderr


def test_show_prints_windows_with_segments_from_the_right(corpus: Path, concatmt: Command) -> None:
    concatmt("prepare", "c.yaml", "--output", "store")
    shown = concatmt("inspect", "show", "store", "--first", "1", "--count", "1").stdout
    assert shown.splitlines() == [
        "window 1: 2 sentences",
        "  k=2 source  a b c </s>",
        "  k=2 target  x y </s>",
        "  k=1 source  d <end>",
        "  k=1 target  z <end>",
    ]


def test_the_number_of_processes_does_not_change_the_bytes(corpus: Path, concatmt: Command) -> None:
    lines = "".join(f"a{i % 50} b{i % 7} c\n" + "\n" * (i % 6 == 0) for i in range(9000))
    for name in ("train.en", "train.de"):
        (corpus / name).write_text(lines)
    for workers in (1, 2):
        concatmt("prepare", "c.yaml", "--output", f"store{workers}", "--workers", workers)
    check_same(corpus / "store1", corpus / "store2")


def test_the_text_pipeline_of_another_store_can_be_used(corpus: Path, concatmt: Command) -> None:
    concatmt("prepare", "c.yaml", "--output", "store")
    (corpus / "train.en").write_text("b unseen c\nd\n\ne f\n")
    again = concatmt("prepare", "c.yaml", "--output", "other", "--text", "store")
    assert again.returncode == 0, again.stderr
    check_same(corpus / "store" / "text", corpus / "other" / "text")
    assert "<unk>" in concatmt("inspect", "show", "other", "--count", "1").stdout


def test_a_prepare_killed_at_any_time_leaves_nothing_and_can_be_run_again(
    corpus: Path, concatmt: Command
) -> None:
    lines = "".join(f"a{i} b c\n" + "\n" * (i % 6 == 0) for i in range(20_000))
    for name in ("train.en", "train.de"):
        (corpus / name).write_text(lines)
    concatmt("prepare", "c.yaml", "--output", "whole")
    command = [sys.executable, "-m", "concatmt", "prepare", "c.yaml", "--output", "store"]
    for delay in (0.7, 1.2, 1.6):
        process = subprocess.Popen(command, cwd=corpus, start_new_session=True)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not (corpus / "store").exists():
            continue
        check_same(corpus / "store", corpus / "whole")  # it was faster than the kill
    concatmt("prepare", "c.yaml", "--output", "store")
    check_same(corpus / "store", corpus / "whole")
    assert not list(corpus.glob(".store*"))


def test_a_full_disk_is_reported_and_leaves_the_old_store(corpus: Path, concatmt: Command) -> None:
    concatmt("prepare", "c.yaml", "--output", "store")
    before = files_of(corpus / "store")
    lines = "".join(f"a{i} b c\n" + "\n" * (i % 6 == 0) for i in range(5000))
    for name in ("train.en", "train.de"):
        (corpus / name).write_text(lines)

    def small_files_only() -> None:
        # A file size limit is a full disk that a test can make for one process alone.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    failed = concatmt("prepare", "c.yaml", "--output", "store", preexec_fn=small_files_only)
    assert failed.returncode == 2
    assert failed.stderr.splitlines()[-1].startswith("concatmt: error: ")
    assert "concatmt: error: store: File too large" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert files_of(corpus / "store") == before
    assert not list(corpus.glob(".store*"))


BAD = {
    "sides of different length": (
        {"train.de": b"x y\nz\n"},
        "train.de: ends after line 2, but train.en has 4 lines; the sides must be aligned line by"
        " line",
    ),
    "invalid UTF-8": (
        {"train.en": b"a b\nsch\xf6n\n\ne\n"},
        "train.en, line 2, byte 4: not UTF-8 (0xf6); convert the file to UTF-8",
    ),
    "empty corpus": (
        {"train.en": b"", "train.de": b""},
        "corpus.splits.train: empty: there are no sentences in it (train.en, train.de, text)",
    ),
    "only blank lines": (
        {"train.en": b"\n\n", "train.de": b"\n\n"},
        "corpus.splits.train: empty: there are no sentences in it (train.en, train.de, text)",
    ),
    "a boundary on one side only": (
        {"train.en": b"a\n\nb\n\nc\n", "train.de": b"x\n\ny\nz\nw\n"},
        "train.en, line 4: a document boundary (blank line), but train.de has text there; the sides"
        " must have the same boundaries",
    ),
    "a sentence beyond the limit in a test split": (
        {"valid.en": b"a b c\nd" + b" d" * 20 + b"\n\ne f\n"},
        "valid.en, line 2: a sentence of 21 tokens; the limit is 20; split it or raise"
        " corpus.max_tokens",
    ),
    "a config with a wrong type": (
        {"c.yaml": CONFIG.replace("20", "twenty").encode()},
        "c.yaml: corpus.max_tokens: input should be a valid integer, unable to parse string as an"
        " integer, found 'twenty'",
    ),
    "a missing file": (
        {"c.yaml": CONFIG.replace("valid.de", "nowhere.de").encode()},
        "nowhere.de: no such file; check the path in the config",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(
    corpus: Path, concatmt: Command, case: str
) -> None:
    files, message = BAD[case]
    for name, content in files.items():
        (corpus / name).write_bytes(content)
    failed = concatmt("prepare", "c.yaml", "--output", "store")
    assert failed.returncode == 2
    assert failed.stderr == f"concatmt: error: {message}\n"
    assert not (corpus / "store").exists()
    assert not list(corpus.glob(".store*"))


def test_what_can_be_repaired_is_repaired_and_reported(corpus: Path, concatmt: Command) -> None:
    concatmt("prepare", "c.yaml", "--output", "plain")
    (corpus / "train.en").write_bytes("\ufeffa b c\r\nd\x0c\r\n\r\ne f\r\n".encode())
    mended = concatmt("prepare", "c.yaml", "--output", "store")
    assert mended.stderr.splitlines() == [
        "note: train.en: byte-order mark removed",
        "note: train.en: Windows line ends normalised (in 4 lines)",
        "note: train.en: control characters replaced by spaces (in 1 lines)",
    ]
    check_same(corpus / "plain", corpus / "store")


def test_dropped_pairs_are_counted_and_reported(corpus: Path, concatmt: Command) -> None:
    (corpus / "train.en").write_text("a\n" + "b " * 21 + "\nc\n\ne f\n")
    (corpus / "train.de").write_text("x\ny\nz\n\nw\n")
    prepared = concatmt("prepare", "c.yaml", "--output", "store")
    assert prepared.stderr.splitlines() == [
        "train: dropped 1 sentence pairs: longer than 20 tokens",
        "train: 1 documents have gaps that no window crosses",
    ]


def test_an_output_that_is_something_else_is_left_alone(corpus: Path, concatmt: Command) -> None:
    failed = concatmt("prepare", "c.yaml", "--output", ".")
    assert failed.returncode == 2
    assert "exists and has no manifest.json; choose another output or remove it" in failed.stderr
    assert (corpus / "train.en").exists()


def test_real_dev_and_test_sets_have_the_papers_statistics(
    shared: Path, tmp_path: Path, concatmt: Command
) -> None:
    # Table 3 of the paper ("Both", De): documents, sentences, document and sentence length.
    splits = "".join(
        f"    {name}: [{{format: ids, source: {name}.en, target: {name}.de, ids: {name}.docs}}]\n"
        for name in ("dev", "test")
    )
    (tmp_path / "c.yaml").write_text(
        "languages: {source: en, target: de}\ntext: {kind: moses-bpe, merges: 500}\n"
        f"corpus:\n  root: {shared}/data/en-de-ted\n  learn_from: dev\n  splits:\n{splits}"
    )
    table = concatmt("prepare", "c.yaml", "--output", "store").stdout
    cells = [[cell.strip() for cell in line.split("|")[1:7]] for line in table.splitlines()]
    assert ["dev", "source", "62", "5,431", "87.6 / 53.5 / 296", "19.0 / 12.5 / 114"] in cells
    assert ["test", "source", "12", "1,080", "90.0 / 29.2 / 151", "19.3 / 12.7 / 102"] in cells
