"""Runs trials of all kinds until the time is over; prints what was tried and what held.

    python -m tests.fuzz --seed 1 --minutes 10

A trial depends on the seed, its kind and its number alone: `--only KIND:NUMBER` repeats one. What
did not hold is kept with its input under --failures, and the exit code is then 1.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tests.fuzz import broken_files, contrastive, documents, markup_files, options, processes
from tests.fuzz.trial import Maker, carry_out, save
from tests.fuzz.workbench import Workbench, make_workbench

MAKERS: dict[str, Maker] = {
    "prepare documents": documents.prepare_documents,
    "translate documents": documents.translate_documents,
    "files with markup": markup_files.markup_file,
    "score documents": documents.score_documents,
    "evaluate files": documents.evaluate_documents,
    "contrastive sets": contrastive.contrastive_set,
    "model files": broken_files.model_file,
    "foreign models": broken_files.foreign_model,
    "store files": broken_files.store_file,
    "run files": broken_files.run_file,
    "journal files": broken_files.journal_file,
    "options": options.odd_option,
    "settings": options.odd_setting,
    "streams": processes.odd_streams,
    "kills of prepare": processes.killed_prepare,
    "kills of train": processes.killed_train,
    "kills of translate": processes.killed_translate,
}
RARE = {
    "streams": 8,
    "kills of prepare": 16,
    "kills of train": 16,
    "kills of translate": 16,
}  # one in so many rounds: they start processes


@dataclass
class Results:
    """Of all trials so far."""

    tried: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def table(self) -> str:
        """By kind."""
        kinds = [kind for kind in (*MAKERS, *self.tried) if self.tried[kind]]
        rows = [(kind, self.tried[kind], self.held[kind]) for kind in dict.fromkeys(kinds)]
        rows.append(("all", self.tried.total(), self.held.total()))
        lines = [f"| {kind:20} | {tried:>6,} | {held:>6,} |" for kind, tried, held in rows]
        head = [
            f"| {'kind':20} | {'tried':>6} | {'held':>6} |",
            f"| {'-' * 20} | -----: | -----: |",
        ]
        return "\n".join([*head, *lines])


@dataclass
class Bounds:
    """How long, how many."""

    seconds: float
    rounds: int
    jobs: int


def schedule(rounds: int) -> "list[tuple[str, int]]":
    """Trials in order: a round has one of each kind that is due."""
    return [
        (kind, number // RARE.get(kind, 1))
        for number in range(rounds)
        for kind in MAKERS
        if number % RARE.get(kind, 1) == 0
    ]


def run_all(bench: Workbench, seed: str, bounds: Bounds, work: Path, failures: Path) -> Results:
    """Run trials, some at a time, each in a process of its own."""
    results, end = Results(), time.monotonic() + bounds.seconds
    running: dict[int, tuple[str, int, Path]] = {}
    waiting = iter(schedule(bounds.rounds))
    while True:
        while len(running) < bounds.jobs and time.monotonic() < end:
            kind, number = next(waiting, ("", 0))
            if not kind:
                end = 0.0
                break
            folder = work / f"{kind.replace(' ', '-')}-{number}"
            running[_start(kind, number, bench, seed, folder, failures)] = kind, number, folder
        if not running:
            return results
        child, status = os.wait()
        if child in running:
            _note(results, *running.pop(child), os.waitstatus_to_exitcode(status))


def _start(
    kind: str, number: int, bench: Workbench, seed: str, folder: Path, failures: Path
) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        trial, problem = carry_out(MAKERS[kind], bench, f"{seed}:{kind}:{number}", folder)
        if problem:
            kept = failures / folder.name
            save(folder, trial, problem, kept)
            folder.with_suffix(".json").write_text(
                json.dumps([problem, trial.what, [str(command) for command in trial.commands]])
            )
        code = 1 if problem else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _note(results: Results, kind: str, number: int, folder: Path, code: int) -> None:
    results.tried[kind] += 1
    if code == 0:
        results.held[kind] += 1
    else:
        report = folder.with_suffix(".json")
        told = json.loads(report.read_text()) if report.exists() else ["the fuzzer failed", "", []]
        problem, what, commands = told
        lines = [f"{kind}:{number} ({what})", f"  {problem}", *(f"  $ {c[:300]}" for c in commands)]
        results.failures.append("\n".join(lines))
        print(results.failures[-1].encode(errors="backslashreplace").decode(), flush=True)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=1_000_000, help="of one trial per kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--only", help="KIND:NUMBER, to repeat one; its folder is kept")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    start = time.monotonic()
    try:
        bench = make_workbench(work / "bench")
        if given.only:
            kind, _, number = given.only.rpartition(":")
            trial, problem = carry_out(
                MAKERS[kind], bench, f"{given.seed}:{kind}:{number}", work / "t"
            )
            save(work / "t", trial, problem or "held", given.failures / "repeated")
            print(*trial.commands, trial.what, problem or "held", sep="\n")
            return int(problem is not None)
        seconds = 60 * given.minutes - (time.monotonic() - start)
        results = run_all(
            bench, given.seed, Bounds(seconds, given.rounds, given.jobs), work, given.failures
        )
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(results.table())
    if results.failures:
        print(f"\n{len(results.failures)} did not hold; inputs and commands: {given.failures}")
    return int(bool(results.failures))


if __name__ == "__main__":
    sys.exit(main())
