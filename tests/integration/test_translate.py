"""`concatmt translate`, `contrast` and `score` as commands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from concatmt.cli import main
from concatmt.corpus.parts import Part
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.job import Job
from concatmt.decoding.journal import Entry, Journal, Shard
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translation import History, Report
from concatmt.decoding.translator import Translator
from concatmt.settings import parse_settings
from tests.unit.decoding.models import SAMPLE, write_model

QUICK = ["--beam", "2", "--threads", "1", "--length-factor", "0", "--length-constant", "4"]


@dataclass
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run the command in this process: starting another one takes longer than most tests."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["concatmt", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Done(int(str(left.value.code)), captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough documents for several chunks."""
    path = tmp_path_factory.mktemp("text") / "text.en"
    lines = (SAMPLE / "train.en").read_text(encoding="utf-8").split("\n")
    short = [line[:12] for line in lines if line.strip()]
    path.write_text(
        "".join(f"{short[i % len(short)]}\n" + "\n" * (i % 5 == 4) for i in range(1300))
    )
    return path


def test_starting_imports_nothing_that_a_translation_may_not_need() -> None:
    heavy = {"sacremoses", "sentencepiece", "tokenizers", "sacrebleu", "scipy", "torch._dynamo"}
    program = "import sys, concatmt.cli, concatmt.decoding.job; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not heavy & set(done.stdout.decode().split())


def test_a_text_comes_out_line_by_line(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbfOne house.\r\nIt is \x07 old.\n\n\nAnna.\n")
    done = run("translate", model, "in.txt", "--output", "out.txt", *QUICK)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert [bool(line) for line in lines] == [True, True, False, False, True, False]
    assert "note: in.txt: control characters replaced by spaces" in done.stderr
    assert "|mode:prefix|target_context:own|beam:2|" in done.stderr
    assert not list(tmp_path.glob(".out*"))


def test_jsonl_has_everything_and_a_signature(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    document = {"id": "d", "source": ["One house.", "", "It is old."]}
    (tmp_path / "in.jsonl").write_text(json.dumps(document) + "\n")
    options = ["--mode", "redecode", "--format", "jsonl", "--nbest", "2", "--windows", *QUICK]
    done = run("translate", model, "in.jsonl", "--output", "-", *options)
    assert not (tmp_path / "-").exists()
    head, *lines = map(json.loads, done.stdout.splitlines())
    assert head["signature"]["mode"] == "redecode"
    assert head["signature"]["K"] == 3
    assert [(line["document"], line["sentence"]) for line in lines] == [("d", i) for i in range(3)]
    assert lines[1]["translation"] == ""
    assert len(lines[2]["nbest"]) == 2
    assert len(lines[2]["window"]) == 2
    assert lines[2]["score"] == lines[2]["nbest"][0]["score"]


def test_standard_input_is_translated_as_it_comes(model: Path) -> None:
    command = [sys.executable, "-m", "concatmt", "translate", str(model), *QUICK]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"One house.\n", b"It is old.\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().strip()  # before the next line is there
        process.stdin.close()
        assert process.stdout.read() == b""


def test_a_killed_run_continues_to_the_same_bytes(
    run: Callable[..., Done], model: Path, text: Path, tmp_path: Path
) -> None:
    options = [str(model), str(text), "--mode", "redecode", "--format", "jsonl", *QUICK]
    whole = run("translate", *options, "--output", "whole.jsonl")
    assert whole.returncode == 0, whole.stderr
    command = [sys.executable, "-m", "concatmt", "translate", *options, "--output", "cut.jsonl"]
    journal = tmp_path / ".cut.jsonl.journal"
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not list(journal.glob("*.chunk")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "cut.jsonl").exists()
    refused = run("translate", *options, "--output", "cut.jsonl")
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr
    other = run("translate", *options, "--output", "cut.jsonl", "--resume", "--context", "1")
    assert "begun with other settings (K: 3, 2)" in other.stderr
    kept = {path: path.stat().st_mtime_ns for path in journal.glob("*.chunk")}
    assert kept
    resumed = run("translate", *options, "--output", "cut.jsonl", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert (tmp_path / "cut.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not journal.exists()


@pytest.mark.parametrize("mode", ["redecode", "prefix"])
def test_several_processes_write_the_same_bytes_as_one(
    run: Callable[..., Done], model: Path, text: Path, tmp_path: Path, mode: str
) -> None:
    options = ["translate", model, text, "--mode", mode, *QUICK]
    run(*options, "--output", "one.txt")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "concatmt", *map(str, options), "--output", "two.txt"],
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"},
        )
        for rank in range(2)
    ]
    assert [process.wait() for process in processes] == [0, 0]
    one = (tmp_path / "one.txt").read_bytes()
    assert one == (tmp_path / "two.txt").read_bytes()
    assert one.count(b"\n") == text.read_bytes().count(b"\n")


@pytest.mark.parametrize("lines", [3, 1300])
def test_torchrun_writes_the_same_bytes_and_leaves_nothing_behind(
    run: Callable[..., Done], model: Path, text: Path, tmp_path: Path, lines: int
) -> None:
    # With few lines there is one chunk: a process without work may be late, and must not wait.
    (tmp_path / "in.txt").write_text("\n".join(text.read_text().split("\n")[:lines]) + "\n")
    options = ["translate", str(model), "in.txt", "--mode", "redecode", *QUICK]
    run(*options, "--output", "one.txt")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launch, "-m", "concatmt", *options]
    subprocess.run([*command, "--output", "two.txt"], cwd=tmp_path, check=True, timeout=300)
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_several_processes_need_a_file_to_write(
    run: Callable[..., Done], model: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused = run("translate", model, text, *QUICK)
    assert refused.returncode == 2
    assert "give --output" in refused.stderr


def make_job(model: Path) -> Job:
    """What the command makes of `QUICK`."""
    search = {"beam": 2, "length_factor": 0, "length_constant": 4}
    config = parse_settings(TranslateConfig, {"search": search}, "test")
    return Job(Translator.load(model, config), Writer("text"))


def leave_journal(model: Path, output: Path, *entries: Entry) -> Path:
    """The journal of a run that was interrupted after some chunks."""
    with Journal(output, make_job(model).signature, Shard(), resume=False) as journal:
        for index, entry in enumerate(entries):
            journal.write(index, entry)
    return journal.folder


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--format", "jsonl"], "format: text, jsonl"),
        (["--nbest", "2"], "nbest: -, 2"),
        (["--windows"], "windows: -, yes"),
        (["--batch", "3"], "batch: 64, 3"),
    ],
)
def test_a_run_goes_on_only_with_the_options_that_decide_its_bytes(
    run: Callable[..., Done], model: Path, tmp_path: Path, options: list[str], difference: str
) -> None:
    (tmp_path / "in.txt").write_text("One house.\n")
    leave_journal(model, tmp_path / "o", Entry("", Report(), History(), "x\n"))
    resumed = run("translate", model, "in.txt", "--output", "o", "--resume", *QUICK, *options)
    assert resumed.returncode == 2
    assert f"begun with other settings ({difference})" in resumed.stderr
    assert not (tmp_path / "o").exists()


def test_a_damaged_chunk_is_translated_again_with_a_warning(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("One house.\nIt is old.\n")
    run("translate", model, "in.txt", "--output", "whole", *QUICK)
    job = make_job(model)
    chunk = next(job.chunks([Part("1", source=["One house.", "It is old."])]))
    journal = leave_journal(model, tmp_path / "o", job.translate(chunk))
    path = journal / "00000000.chunk"
    path.write_bytes(path.read_bytes()[:-4])
    resumed = run("translate", model, "in.txt", "--output", "o", "--resume", *QUICK)
    assert resumed.returncode == 0
    assert "00000000.chunk: damaged; translating it again" in resumed.stderr
    assert (tmp_path / "o").read_bytes() == (tmp_path / "whole").read_bytes()


def test_chunks_that_do_not_say_how_they_were_made_are_not_used(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    # What a kill in the clean-up of earlier versions left: the next run may have another model.
    (tmp_path / "in.txt").write_text("One house.\n")
    run("translate", model, "in.txt", "--output", "whole", *QUICK)
    chunk = next(make_job(model).chunks([Part("1", source=["One house."])]))
    journal = leave_journal(model, tmp_path / "o", Entry(chunk.hash, Report(), History(), "old\n"))
    (journal / "journal.json").unlink()
    assert run("translate", model, "in.txt", "--output", "o", *QUICK).returncode == 0
    assert (tmp_path / "o").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_second_translation_to_one_output_is_refused(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("One house.\n")
    with Journal(tmp_path / "o", make_job(model).signature, Shard(start="first"), resume=False):
        second = run("translate", model, "in.txt", "--output", "o", "--resume", *QUICK)
    assert (second.returncode, second.stderr.count("\n")) == (2, 1)
    assert "o: another process is translating to it" in second.stderr
    assert run("translate", model, "in.txt", "--output", "o", "--resume", *QUICK).returncode == 0


def test_input_that_changed_is_not_mixed_with_the_old(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("One house.\n")
    leave_journal(model, tmp_path / "o", Entry("another", Report(), History(), "x\n"))
    resumed = run("translate", model, "in.txt", "--output", "o", "--resume", *QUICK)
    assert resumed.returncode == 2
    assert "the input has changed" in resumed.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{model}", "nowhere.txt"], "nowhere.txt: no such file"),
        (["nowhere", "in.txt"], "nowhere: no such model directory"),
        (["{model}", "in.txt", "--context", "3"], "the model was trained for at most 3"),
        (["{model}", "in.txt", "--resume"], "--resume: needs --output"),
        (["{model}", "in.txt", "--target-context", "gold"], "no given translations"),
        (["{model}", "in.txt", "--gold", "short.txt"], "aligned line by line"),
        (["{model}", "latin.txt", "--output", "o"], "latin.txt, line 1, byte 2: not UTF-8"),
        (["{model}", "bad.jsonl", "--output", "o"], "bad.jsonl, line 1: 'source' must be a list"),
        (["{model}", "bad.tsv", "--output", "o"], "bad.tsv, line 1: 1 columns"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    run: Callable[..., Done], model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "in.txt").write_text("One house.\nIt is old.\n")
    (tmp_path / "short.txt").write_text("Ein Haus.\n")
    (tmp_path / "latin.txt").write_bytes(b"x\xe9\n")
    (tmp_path / "bad.jsonl").write_text('{"text": "x"}\n')
    (tmp_path / "bad.tsv").write_text("x\n")
    failed = run("translate", *(a.replace("{model}", str(model)) for a in arguments))
    assert failed.returncode == 2
    assert message in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "o").exists()
    assert not list(tmp_path.glob(".*"))


def test_contrast_writes_items_and_prints_accuracy_beside_chance(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    item = {
        "id": "a",
        "source": ["One house.", "It is old."],
        "context": ["Ein Haus."],
        "candidates": ["Es ist alt.", "Er ist alt.", "Es ist alt."],
        "correct": 0,
        "orbit": "o",
    }
    (tmp_path / "set.jsonl").write_text(json.dumps(item) + "\n")
    done = run("score", model, "set.jsonl", "--output", "items.jsonl")
    assert done.returncode == 0, done.stderr
    assert "33.33" in done.stdout
    head, line = map(json.loads, (tmp_path / "items.jsonl").read_text().splitlines())
    assert head["signature"]["score"] == "mean"
    assert "occurs twice in 1 item(s)" in head["remarks"]["set"]
    assert line["verdict"] in (0, 0.5)
    assert line["scores"][0] == line["scores"][2]
    total, tokens = line["window"][1]
    assert line["scores"][1] == pytest.approx(total / tokens)
    single = {**item, "candidates": ["Es ist alt."]}
    (tmp_path / "single.jsonl").write_text(json.dumps(single) + "\n")
    assert "has one candidate" in run("score", model, "single.jsonl").stderr


def test_score_gives_tokens_for_every_amount_of_context(
    run: Callable[..., Done], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.tsv").write_text("d\tOne house.\tEin Haus.\nd\tIt is old.\tEs ist alt.\n")
    done = run("score", model, "a.tsv", "--context", "0", "--context", "2")
    assert done.returncode == 0, done.stderr
    head, *lines = map(json.loads, done.stdout.splitlines())
    assert head["signature"]["context"] == "0,2"
    assert [(line["sentence"], line["context"]) for line in lines] == [
        (0, 0),
        (0, 2),
        (1, 0),
        (1, 2),
    ]
    first, same, without, with_context = lines
    assert first["log_probs"] == pytest.approx(same["log_probs"], abs=1e-5)  # nothing before it
    assert without["log_probs"] != pytest.approx(with_context["log_probs"], abs=1e-3)
    assert without["tokens"][-1] == "<end>"
    assert sum(without["log_probs"]) == pytest.approx(without["log_prob"])
