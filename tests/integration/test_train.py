"""Training runs on a tiny task: resume to the bit, processes, faults."""

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from concatmt.cli import main
from concatmt.errors import UserError
from concatmt.files import hash_file
from concatmt.model.directory import load_model
from concatmt.training import checkpoints as checkpoints_module
from concatmt.training.checkpoints import Checkpoints
from concatmt.training.run import Run
from concatmt.training.state import TrainingState
from concatmt.training.train import train
from concatmt.training.trainer import Trainer
from tests.conftest import Command
from tests.unit.training.tiny import ARCHITECTURE, TRAINING, make_data, make_task

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model" / "model.safetensors")


def check_identical(first: Path, second: Path) -> None:
    ours, theirs = weights(first), weights(second)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def in_child(work: Callable[[], object]) -> int:
    """Start `work` in a forked process, which saves importing everything; returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except UserError as error:
        print(error, file=sys.stderr)
        os._exit(2)
    finally:
        os._exit(1)


def test_a_run_makes_a_model_that_has_learnt_and_says_what_it_is(
    data: Path, tmp_path: Path
) -> None:
    assert train(make_task(data), tmp_path / "run")
    description = json.loads((tmp_path / "run" / "run.json").read_text())
    assert description["settings"]["system"] == "s3to3+cd"
    assert description["settings"]["seed"] == 1
    assert {"concatmt", "torch", "git", "command"} <= description.keys()
    valid = [r["current"] for r in Run(tmp_path / "run").metrics() if r["kind"] == "valid"]
    assert valid[-1] < valid[0]
    assert load_model(tmp_path / "run" / "model").config.system.sentences == 3
    assert (tmp_path / "run" / "curves.svg").stat().st_size > 1000


def test_the_same_command_gives_the_same_bits_and_another_seed_does_not(
    data: Path, tmp_path: Path
) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(make_task(data, seed=seed, max_updates=5), tmp_path / name)
    check_identical(tmp_path / "a", tmp_path / "b")
    with pytest.raises(AssertionError):
        check_identical(tmp_path / "a", tmp_path / "c")


def test_a_run_goes_on_with_the_products_that_it_began_with(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCATMT_PRODUCTS", "onednn")
    whole, run = tmp_path / "whole", tmp_path / "run"
    assert train(make_task(data), whole)
    assert train(make_task(data, max_updates=10), run)
    monkeypatch.setenv("CONCATMT_PRODUCTS", "blas")
    assert train(make_task(data), run)
    check_identical(whole, run)
    assert json.loads((run / "run.json").read_text())["products"] == "onednn"


def test_twenty_kills_at_random_moments_leave_no_trace(data: Path, tmp_path: Path) -> None:
    task = make_task(data, max_updates=60, checkpoint_every=2)
    start = time.monotonic()
    train(task, tmp_path / "whole")
    whole = time.monotonic() - start
    rng = np.random.default_rng(0)
    kills = 0
    while kills < 20:
        # A run that was killed early starts again from its last checkpoint: short lives, so that
        # twenty of them fit in.
        child = in_child(lambda: train(task, tmp_path / "killed"))
        time.sleep(float(rng.uniform(0.02, 0.25)) * max(whole, 0.5))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1
        if (tmp_path / "killed" / "model").exists():
            check_identical(tmp_path / "whole", tmp_path / "killed")
            shutil.rmtree(tmp_path / "killed")
    train(task, tmp_path / "killed")
    check_identical(tmp_path / "whole", tmp_path / "killed")
    updates = [(r["kind"], r["update"]) for r in Run(tmp_path / "killed").metrics()]
    assert len(updates) == len(set(updates))


def test_a_terminated_run_saves_and_goes_on(data: Path, tmp_path: Path) -> None:
    task = make_task(data, max_updates=60, validate_every=50)
    train(task, tmp_path / "whole")
    child = in_child(lambda: train(task, tmp_path / "run"))
    while not (tmp_path / "run" / "metrics.jsonl").exists():
        time.sleep(0.01)
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert not (tmp_path / "run" / "model").exists()
    assert Checkpoints(tmp_path / "run" / "checkpoints").all()
    train(task, tmp_path / "run")
    check_identical(tmp_path / "whole", tmp_path / "run")


def ask(data: Path, run: Path, *signals: int, wait: float = 0.7) -> tuple[int, str]:
    """Send signals to a run that has begun; its exit code, as the command gives it, and log."""
    log = run.with_name(f"{run.name}.log")

    def work() -> None:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT), 2)
        sys.stderr = os.fdopen(2, "w")
        sys.argv = ["concatmt", "train", str(write_config(run.parent, **LONG)), "--data", str(data)]
        sys.argv += ["--system", "s3to3+cd", "--output", str(run)]
        try:
            main()
        except SystemExit as end:
            os._exit(int(str(end.code)))

    child = in_child(work)
    while not (run / "metrics.jsonl").exists():
        time.sleep(0.01)
    for place, number in enumerate(signals):
        time.sleep(wait if place else 0)
        os.kill(child, number)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), log.read_text()


LONG: dict[str, Any] = {"max_updates": 60, "validate_every": 50, "log_every": 5}


def test_ctrl_c_saves_says_so_and_the_run_goes_on_exactly(data: Path, tmp_path: Path) -> None:
    code, log = ask(data, tmp_path / "run", signal.SIGINT)
    assert code == 130
    assert "saving after this update; Ctrl-C again ends at once" in log
    saved = Checkpoints(tmp_path / "run" / "checkpoints").all()[-1].update
    assert f"stopped after update {saved}; the same command resumes from update {saved}" in log
    train(make_task(data, **LONG), tmp_path / "run")
    train(make_task(data, **LONG), tmp_path / "whole")
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_a_second_ctrl_c_ends_at_once(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An update that takes long: without the second signal the run would save only after it.
    def slow(*_: Any) -> None:
        Run(tmp_path / "run").append({"kind": "train", "update": 0})
        time.sleep(60)

    monkeypatch.setattr(Trainer, "update", slow)
    start = time.monotonic()
    code, log = ask(data, tmp_path / "run", signal.SIGINT, signal.SIGINT)
    assert time.monotonic() - start < 30
    assert code == 130
    assert "saving after this update" in log
    assert not Checkpoints(tmp_path / "run" / "checkpoints").all()


def test_ctrl_c_under_torchrun_saves_too(data: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path, **{**LONG, "max_updates": 100_000, "validate_every": 100_000})
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = ["-m", "concatmt", "train", str(config), "--data", str(data), "--system", "base"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*launch, *arguments, "--output", str(tmp_path / "run")],
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        while not (tmp_path / "run" / "metrics.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.wait(timeout=60)
    [saved] = Checkpoints(tmp_path / "run" / "checkpoints").all()
    assert (
        f"the same command resumes from update {saved.update:,}" in (tmp_path / "log").read_text()
    )


def write_config(folder: Path, **training: Any) -> Path:
    path = folder / "config.yaml"
    path.write_text(json.dumps({"model": ARCHITECTURE, "training": {**TRAINING, **training}}))
    return path


def test_two_processes_make_the_updates_of_one(data: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    arguments = ["--data", str(data), "--system", "s3to3+cd+lrn+pers"]
    launch = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    for name, prefix in (("one", [sys.executable]), ("two", launch)):
        command = [*prefix, "-m", "concatmt", "train", str(config), *arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        output = ["--output", str(tmp_path / name)]
        subprocess.run([*command, *output], env=environment, check=True, capture_output=True)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert max(float((one[name] - two[name]).abs().max()) for name in one) < 1e-5
    losses = [
        [r["discounted"] for r in Run(tmp_path / name).metrics() if r["kind"] == "valid"]
        for name in ("one", "two")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("method", ["adam", "muon"])
def test_more_updates_continue_a_finished_run_exactly(
    data: Path, tmp_path: Path, method: str
) -> None:
    options = {"optimiser": {"learning_rate": 0.01, "warmup": 5, "method": method}}
    train(make_task(data, max_updates=10, **options), tmp_path / "run")
    train(make_task(data, max_updates=20, **options), tmp_path / "run")
    train(make_task(data, max_updates=20, **options), tmp_path / "whole")
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_other_settings_are_refused_with_the_keys_that_differ(data: Path, tmp_path: Path) -> None:
    train(make_task(data, max_updates=5), tmp_path / "run")
    message = r"system was 's3to3\+cd', now 's3to3'; training.tokens_per_update was 256, now 99"
    with pytest.raises(UserError, match=message):
        train(make_task(data, "s3to3", tokens_per_update=99), tmp_path / "run")


def test_a_second_process_on_one_run_is_refused(data: Path, tmp_path: Path) -> None:
    with (
        Run(tmp_path / "run").locked(),
        pytest.raises(UserError, match="another process is training here"),
    ):
        train(make_task(data), tmp_path / "run")


def test_a_folder_without_a_run_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious").touch()
    with pytest.raises(UserError, match="exists and is not a run"):
        train(make_task(data), tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["precious"]


def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_is_taken(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train(make_task(data, max_updates=20), tmp_path / "whole")
    train(make_task(data, max_updates=15), tmp_path / "run")
    newest = Checkpoints(tmp_path / "run" / "checkpoints").all()[-1].folder
    content = bytearray((newest / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (newest / "model.safetensors").write_bytes(content)
    train(make_task(data, max_updates=20), tmp_path / "run")
    captured = capfd.readouterr().err
    assert "00000015/model.safetensors: damaged" in captured
    assert "resuming after update 10" in captured
    check_identical(tmp_path / "whole", tmp_path / "run")


@pytest.mark.parametrize(
    "damage", ["edited", "without hash", "no JSON", "no object", "removed", "fitting hash"]
)
def test_a_checkpoint_whose_state_is_damaged_is_skipped_and_written_again(
    data: Path, tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    train(make_task(data, max_updates=20), tmp_path / "whole")
    train(make_task(data, max_updates=15), tmp_path / "run")
    path = Checkpoints(tmp_path / "run" / "checkpoints").all()[-1].folder / "state.json"
    text = path.read_text()
    if damage == "removed":
        path.unlink()
    else:
        state = json.loads(text)
        state["stream"]["next"] -= 1
        if damage == "fitting hash":
            state["training"]["values"] = 5
        del state["state_sha256" if damage == "edited" else "scaler"]
        state |= {"state_sha256": json.loads(text)["state_sha256"]} if damage == "edited" else {}
        others = {"no JSON": text[:-9], "no object": "[]"}
        path.write_text(others.get(damage, json.dumps(state)))
    train(make_task(data, max_updates=20), tmp_path / "run")
    captured = capfd.readouterr().err
    assert captured.count("warning: ") == 1
    assert "taking the one before it" in captured
    assert "resuming after update 10" in captured
    check_identical(tmp_path / "whole", tmp_path / "run")


@pytest.mark.parametrize("name", ["model", "optimiser"])
@pytest.mark.parametrize("damage", ["cut", "other name", "other shape", "one less"])
def test_a_checkpoint_of_other_tensors_is_skipped_even_if_its_hashes_fit(
    data: Path, tmp_path: Path, name: str, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    train(make_task(data, max_updates=10), tmp_path / "whole")
    train(make_task(data, max_updates=10), tmp_path / "run")
    folder = Checkpoints(tmp_path / "run" / "checkpoints").all()[-1].folder
    path = folder / f"{name}.safetensors"
    tensors = load_file(path)
    first = min(tensors, key=lambda key: (tensors[key].dim() == 0, key))
    if damage != "cut":
        tensor = tensors.pop(first)
        if damage != "one less":
            tensors[f"{first}x" if damage == "other name" else first] = tensor[:-1].contiguous()
        save_file(tensors, path)
    else:
        path.write_bytes(path.read_bytes()[:-9])
    state = json.loads((folder / "state.json").read_text())
    state["sha256"][f"{name}.safetensors"] = hash_file(path)
    del state["state_sha256"]  # as earlier versions wrote it
    (folder / "state.json").write_text(json.dumps(state))
    train(make_task(data, max_updates=10), tmp_path / "run")
    assert f"{path}: damaged: " in capfd.readouterr().err
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_checkpoints_of_earlier_versions_are_resumed(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train(make_task(data, max_updates=20), tmp_path / "whole")
    train(make_task(data, max_updates=15), tmp_path / "run")
    for checkpoint in Checkpoints(tmp_path / "run" / "checkpoints").all():
        state = json.loads((checkpoint.folder / "state.json").read_text())
        assert state.pop("state_sha256")
        (checkpoint.folder / "state.json").write_text(json.dumps(state, indent=2))
    train(make_task(data, max_updates=20), tmp_path / "run")
    assert "resuming after update 15" in capfd.readouterr().err
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_a_kill_while_the_run_is_first_described_leaves_a_folder_that_can_be_used(
    data: Path, tmp_path: Path
) -> None:
    def work() -> None:
        Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment,method-assign]
        train(make_task(data, max_updates=5), tmp_path / "run")

    os.waitpid(in_child(work), 0)
    left = [path.name for path in (tmp_path / "run").iterdir()]
    assert len(left) == 2
    assert any(name.startswith(".run.json.") for name in left)
    assert train(make_task(data, max_updates=5), tmp_path / "run")
    assert not list((tmp_path / "run").glob(".*"))


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("fault", ["precision", "warm_start", "tensorboard"])
def test_a_start_that_fails_leaves_nothing(
    data: Path, tmp_path: Path, fault: str, there: bool
) -> None:
    options: dict[str, Any] = {
        "precision": {"precision": "fp16"},
        "warm_start": {"warm_start": str(tmp_path / "nowhere")},
        "tensorboard": {"track": ["tensorboard"], "precision": "fp16"},
    }[fault]
    run = tmp_path / "parent" / "run"
    if there:
        run.mkdir(parents=True)
    with pytest.raises(UserError):
        train(make_task(data, **options), run)
    assert (tmp_path / "parent").exists() == there
    assert not there or not list(run.iterdir())
    assert train(make_task(data, max_updates=5), run)


def test_a_warm_start_from_nowhere_is_reported_as_such(data: Path, tmp_path: Path) -> None:
    task = make_task(data, warm_start=str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="training.warm_start: .*nowhere: no such model directory"):
        train(task, tmp_path / "run")


def test_metrics_that_are_no_file_or_no_text_are_not_read(data: Path, tmp_path: Path) -> None:
    run = Run(tmp_path)
    good = [{"kind": "train", "update": 1}, {"kind": "valid", "update": 2, "context": None}]
    lines = [json.dumps(record).encode() for record in good]
    odd = [b'{"kind": "train", "update": \xff}', b"[]", b"{}", b'{"kind": "train", "update": "2"}']
    odd += [b'{"kind": "train", "update": 2, "current": "x"}', lines[0][:-3] + lines[1]]
    (tmp_path / "metrics.jsonl").write_bytes(b"\n".join([lines[0], *odd, lines[1]]) + b"\n")
    assert run.metrics() == good
    (tmp_path / "metrics.jsonl").unlink()
    (tmp_path / "metrics.jsonl").symlink_to("/dev/zero")
    with pytest.raises(UserError, match="metrics.jsonl: not a regular file"):
        run.metrics()


def test_hashes_are_short_in_messages(data: Path, tmp_path: Path) -> None:
    train(make_task(data, max_updates=5), tmp_path / "run")
    (tmp_path / "other").mkdir()
    other = make_data(tmp_path / "other", words=9)
    with pytest.raises(UserError, match=r"data was [0-9a-f]{12}\.\.\., now [0-9a-f]{12}\.\.\.;"):
        train(make_task(other, max_updates=5), tmp_path / "run")


def test_disk_use_is_bounded(data: Path, tmp_path: Path) -> None:
    train(make_task(data, max_updates=40, validate_every=2, patience=30), tmp_path / "run")
    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints").all()
    complete = [c for c in checkpoints if (c.folder / "optimiser.safetensors").exists()]
    assert len(complete) == 2
    assert len(checkpoints) <= 5 + 2


def test_a_full_disk_does_not_end_a_run(data: Path, tmp_path: Path) -> None:
    train(make_task(data, max_updates=5), tmp_path / "run")
    before = Checkpoints(tmp_path / "run" / "checkpoints").all()

    def on_a_full_disk() -> None:
        # A limit on file sizes stands for a full disk: it hits the checkpoints alone.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        sys.stderr = (tmp_path / "log").open("w")
        train(make_task(data, max_updates=15, validate_every=5), tmp_path / "run")

    os.waitpid(in_child(on_a_full_disk), 0)
    log = (tmp_path / "log").read_text()
    assert log.count("warning: checkpoint ") == 2
    assert log.count("File too large") == 2
    assert Checkpoints(tmp_path / "run" / "checkpoints").all() == before
    train(make_task(data, max_updates=15, validate_every=5), tmp_path / "run")
    train(make_task(data, max_updates=15, validate_every=5), tmp_path / "whole")
    check_identical(tmp_path / "whole", tmp_path / "run")


def full_disk(monkeypatch: pytest.MonkeyPatch, target: Any, name: str, places: set[int]) -> None:
    """Calls of a function fail as on a full disk, at these places in their order."""
    function, count = getattr(target, name), iter(range(1000))

    def fail(*arguments: Any, **options: Any) -> Any:
        if next(count) in places:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*arguments, **options)

    monkeypatch.setattr(target, name, fail)


def test_a_run_whose_last_checkpoints_were_not_written_makes_no_model(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(data, max_updates=20, validate_every=5)
    monkeypatch.setattr(TrainingState, "best", 0)  # so that all checkpoints are averaged
    train(task, tmp_path / "whole")
    with monkeypatch.context() as patch:
        full_disk(patch, checkpoints_module, "save_tensors", {2, 3})
        with pytest.raises(
            UserError, match=r"checkpoints 15 \+ 20 missing or damaged, so no model"
        ):
            train(task, tmp_path / "run")
    assert not (tmp_path / "run" / "model").exists()
    train(task, tmp_path / "run")
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_a_run_without_any_checkpoint_says_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk(monkeypatch, checkpoints_module, "save_tensors", set(range(100)))
    with pytest.raises(UserError, match="missing or damaged, so no model is made"):
        train(make_task(data, max_updates=10), tmp_path / "run")


def test_a_model_that_lacks_a_checkpoint_is_not_called_the_model(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The disk was full in between: the checkpoint is lost, and the run is past it.
    monkeypatch.setattr(TrainingState, "best", 0)  # so that all checkpoints are averaged
    full_disk(monkeypatch, checkpoints_module, "save_tensors", {2})
    message = (
        r"checkpoint 15 missing .* partial-model, which is the average of the checkpoints .*20;"
    )
    with pytest.raises(UserError, match=message):
        train(make_task(data, max_updates=20, validate_every=5), tmp_path / "run")
    assert not (tmp_path / "run" / "model").exists()
    assert load_model(tmp_path / "run" / "partial-model")


def test_metrics_that_cannot_be_written_do_not_end_a_run(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    task = make_task(data, max_updates=20, log_every=1)
    train(task, tmp_path / "whole")
    write, count = os.write, iter(range(1000))

    def full(descriptor: int, line: bytes) -> int:
        # Half of the second line fits, nothing of the third; then there is room again.
        number = next(count)
        if number == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, line[: len(line) // 2] if number == 1 else line)

    capfd.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert train(task, tmp_path / "run")
    log = capfd.readouterr().err
    assert log.count("warning: ") == 1
    assert "No space left on device; training goes on without metrics" in log
    places = [r["update"] for r in Run(tmp_path / "run").metrics() if r["kind"] == "train"]
    assert places == [1, *range(4, 21)]
    check_identical(tmp_path / "whole", tmp_path / "run")


def test_divergence_is_reported_and_leaves_the_last_checkpoint(data: Path, tmp_path: Path) -> None:
    task = make_task(data, max_updates=300, optimiser={"learning_rate": 1e30, "warmup": 8})
    with pytest.raises(UserError, match=r"diverged at update \d+: .*; lower training.optimiser"):
        train(task, tmp_path / "run")


def test_the_averaged_model_is_the_mean_of_the_checkpoints_that_are_named(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # With a rate that destroys what was learnt the first validation stays the best.
    train(make_task(data, max_updates=15, patience=30), tmp_path / "run")
    folder = tmp_path / "run" / "checkpoints"
    state = json.loads((Checkpoints(folder).all()[-1].folder / "state.json").read_text())
    values, updates = state["training"]["values"], state["training"]["validations"]
    chosen = updates[values.index(min(values)) :][:5]
    named = " + ".join(map(str, chosen))
    assert f"checkpoint{'s' * (len(chosen) > 1)} {named}\n" in capfd.readouterr().err
    tensors = [load_file(folder / f"{update:08d}" / "model.safetensors") for update in chosen]
    for name, averaged in weights(tmp_path / "run").items():
        mean = torch.stack([t[name] for t in tensors]).double().mean(dim=0)
        assert torch.allclose(averaged.double(), mean, atol=1e-7)


def test_a_warm_start_takes_the_weights_and_new_segments_change_nothing(
    data: Path, tmp_path: Path
) -> None:
    from concatmt.corpus.store import Store
    from concatmt.corpus.windows import Windows
    from concatmt.training.train import build_model

    train(make_task(data, "s3to3", max_updates=5), tmp_path / "first")
    model = load_model(tmp_path / "first" / "model")
    task = make_task(data, "s3to3+lrn+pers", warm_start=str(tmp_path / "first" / "model"))
    started = build_model(Store.open(data), task).eval()
    batch = Windows.of(Store.open(data).split("train"), 3).batch(np.arange(8))
    with torch.no_grad():
        assert torch.allclose(started(batch), model(batch), atol=1e-6)


def test_a_warm_start_with_another_vocabulary_is_refused(data: Path, tmp_path: Path) -> None:
    train(make_task(data, "base", max_updates=5), tmp_path / "first")
    (tmp_path / "other").mkdir()
    other = make_data(tmp_path / "other", words=9)
    task = make_task(other, "base", warm_start=str(tmp_path / "first" / "model"))
    with pytest.raises(UserError, match="made with another vocabulary"):
        train(task, tmp_path / "second")


@pytest.mark.parametrize(
    "options",
    [
        {"discounting": "stochastic"},
        {"coword_dropout": 0.2},
        {"batch": {"tokens": 128, "random_context": True}},
        {"precision": "bf16"},
        {"loss": {"normaliser": "weights"}},
        {"track": ["tensorboard"]},
        {"stop_metric": "current"},
    ],
    ids=str,
)
def test_every_option_trains(data: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    train(make_task(data, max_updates=5, **options), tmp_path / "run")
    last = Run(tmp_path / "run").metrics()[-1]
    assert np.isfinite(last["current"])


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "s3to3+cd",
        {"tokens_per_update": 12, "batch": {"tokens": 12}},
        "windows have more than 12 tokens, the longest",
    ),
    ("s3to3+cd", {"precision": "fp16"}, "fp16 needs a GPU"),
    ("s3to3+cd", {"device": "cuda"}, "there is no GPU that PyTorch can use"),
    ("s9to9+1hot+pse", {}, "one-hot segments of 9 sentences do not fit"),
]


@pytest.mark.parametrize(("system", "options", "message"), FAULTS, ids=[f[2] for f in FAULTS])
def test_faults_are_reported_in_one_line(
    data: Path, tmp_path: Path, system: str, options: dict[str, Any], message: str
) -> None:
    if options.get("device") == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(UserError, match=message):
        train(make_task(data, system, **options), tmp_path / "run")


def test_long_windows_are_skipped_only_if_asked(data: Path, tmp_path: Path) -> None:
    task = make_task(
        data, max_updates=2, tokens_per_update=12, batch={"tokens": 12, "too_long": "skip"}
    )
    assert train(task, tmp_path / "run")


def test_the_command_tells_faults_of_its_settings(
    data: Path, tmp_path: Path, concatmt: Command
) -> None:
    config = write_config(tmp_path, optimiser={"learning_rate": 0})
    arguments = ["train", config, "--data", data, "--output", tmp_path / "run", "--system"]
    failed = concatmt(*arguments, "base")
    assert failed.returncode == 2
    assert "training.optimiser.learning_rate: input should be greater than 0" in failed.stderr
    failed = concatmt(*arguments, "s4to5")
    assert (failed.returncode, failed.stderr.count("\n")) == (2, 1)


def test_a_store_without_validation_data_is_reported(data: Path, tmp_path: Path) -> None:
    import concatmt.corpus.store as store_module

    store = store_module.Store.open(data)
    copy = tmp_path / "store"
    shutil.copytree(data, copy)
    shutil.rmtree(copy / "valid")
    manifest = {k: v for k, v in store.manifest.items() if k not in ("hash", "splits", "files")}
    (copy / "manifest.json").unlink()
    store_module.write_manifest(
        copy, manifest.pop("token_type"), {"train": store.manifest["splits"]["train"]}, {}
    )
    with pytest.raises(UserError, match="no split 'valid'; it has train"):
        train(make_task(copy), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_grid_finds_the_best_rate_and_resumes(
    data: Path, tmp_path: Path, concatmt: Command
) -> None:
    config = write_config(tmp_path, max_updates=10)
    arguments = ["train", config, "--data", data, "--system", "base", "--output", tmp_path / "s"]
    done = concatmt(*arguments, "--rates", "1e-5,1e-2")
    assert done.returncode == 0, done.stderr
    assert "| base   | 0.01 " in done.stdout
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "s").rglob("model.safetensors")}
    again = concatmt(*arguments, "--rates", "1e-5,1e-2")
    assert again.stdout == done.stdout
    assert times == {p: p.stat().st_mtime_ns for p in (tmp_path / "s").rglob("model.safetensors")}


def test_a_sweep_off_a_cluster_says_that_no_job_was_submitted(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("submitit")
    if shutil.which("srun"):
        pytest.skip("this is a cluster")
    from concatmt.training import sweep

    trials = sweep.trials(["base"], [1e-2], [1], tmp_path / "s")
    commands = [(trial, ["true"]) for trial in trials]
    with pytest.raises(UserError, match="--launcher slurm: no job was submitted: .*srun"):
        sweep.run_on_cluster(commands, tmp_path / "s", "slurm", {"timeout_min": 5})


def test_a_seed_that_is_no_seed_is_refused_before_anything_is_made(
    data: Path, tmp_path: Path
) -> None:
    for seed in (-1, 2**63):
        with pytest.raises(UserError, match=f"seed {seed}: must be from 0"):
            replace(make_task(data), seed=seed)


def test_a_sweep_runs_through_submitit(data: Path, tmp_path: Path) -> None:
    # The `local` executor of submitit stands in for the cluster: same code, no scheduler.
    from concatmt.training import sweep

    config = write_config(tmp_path, max_updates=5)
    trials = sweep.trials(["base"], [1e-2], [1], tmp_path / "s")
    commands = [(t, t.command(str(config), data, [])) for t in trials]
    assert sweep.run_on_cluster(commands, tmp_path / "s", "local", {"timeout_min": 5}) == []
    assert trials[0].finished
