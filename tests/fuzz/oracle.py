"""What every command must do, whatever it is given: runs one command and says what did not hold.

A command ends with exit code 0, or with 2 and one line of error as its last line. It never
shows a traceback, hangs, takes more memory than MEMORY, or leaves temporary or half-written files.
Commands run in forked children of a process that has imported everything already, because starting
Python and torch takes longer than the commands. Does not know what the commands are given.
"""

import os
import resource
import shlex
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

MEMORY = 1 << 30  # bytes that a command may take on top of the program itself
SECONDS = 30  # of the processor that a command may take; those here take one
# That it may wait for something that never comes. Only those in which this process runs too are
# counted, so that neither a busy machine nor one that pauses its programs looks like a hang.
PATIENCE = 60.0
POLL_SECONDS = 0.005
LONGEST_LINE = 4000  # characters of an error that a person would still read
ERROR = "concatmt: error: "
STREAMS = ("stdin", "stdout", "stderr")


@dataclass(frozen=True)
class Command:
    """A command line, with what it is given on standard input and in the environment."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    environment: tuple[tuple[str, str], ...] = ()
    real: bool = False  # in a process of its own, started by the shell
    shell: str = ""  # follows the command line in the shell: redirections, pipes
    silent: bool = False  # there is no stderr: a refusal cannot be read

    def __str__(self) -> str:
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment]
        words = [*variables, "concatmt", *map(shlex.quote, self.arguments)]
        given = "< .stdin" if self.stdin else "< /dev/null"
        return " ".join([*words, self.shell or given])


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int  # the exit code; minus the signal if there was one
    stdout: bytes
    stderr: str
    memory: int  # bytes, on top of the program itself
    late: bool = False  # it was killed because it took too long
    silent: bool = False

    def problem(self) -> str | None:
        """What did not hold, in a few words; None if all did."""
        if self.late:
            return f"hang: not done after {SECONDS} s of work, or {PATIENCE:.0f} s of waiting"
        if self.code < 0:
            return f"crash: signal {signal.Signals(-self.code).name}"
        if "Traceback (most recent call last)" in self.stderr:
            return f"traceback: {self.stderr.strip().splitlines()[-1][:200]}"
        if self.memory > MEMORY:
            return f"memory: {self.memory >> 20} MiB"
        if self.code == 0:
            return None
        if self.code != 2:
            return f"exit code {self.code}: {self.stderr.strip()[-200:]}"
        return None if self.silent else _error_problem(self.stderr)


def _error_problem(stderr: str) -> str | None:
    lines = stderr.split("\n")
    if lines[-1] or len(lines) < 2 or not lines[-2].startswith(ERROR):
        return f"the last line is not an error: {stderr[-200:]!r}"
    if sum(line.startswith(ERROR) for line in lines) != 1:
        return "more than one line of error"
    message = lines[-2].removeprefix(ERROR).strip()
    if not message or len(message) > LONGEST_LINE:
        return f"an error of {len(message)} characters: {message[:100]!r}"
    return None


def run(command: Command, folder: Path) -> Done:
    """Run a command in `folder` and wait for its end."""
    streams = folder / ".streams"
    streams.mkdir(exist_ok=True)
    (streams / "stdin").write_bytes(command.stdin)
    if command.real:
        return _run_real(command, folder, streams)

    def work() -> None:
        os.environ.update(command.environment)
        sys.argv = ["concatmt", *command.arguments]
        from concatmt.cli import main

        main()

    return run_forked(work, folder, streams)


def run_forked(work: Callable[[], object], folder: Path, streams: Path) -> Done:
    """Run `work` in a forked child with streams of its own, and limits."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _redirect(streams)
            os.chdir(folder)
            os.setsid()
            _limit()
            code = _exit_code(work)
        finally:
            os._exit(code)
    return _wait(child, streams, _resident())


def _exit_code(work: Callable[[], object]) -> int:
    """As the interpreter would end: code of SystemExit, or a traceback and 1."""
    try:
        work()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        code = 1
        traceback.print_exc()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or 120
    return code


def _redirect(streams: Path) -> None:
    for number, name in enumerate(STREAMS):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(streams / name, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _limit() -> None:
    """Twice the allowance: who takes more than MEMORY is told, who takes far more is refused."""
    status = Path("/proc/self/status").read_text()
    data = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData"))
    limit = (data << 10) + 2 * MEMORY
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def _resident() -> int:
    """Memory of this process that a child has from its start: files are mapped there anew."""
    _, resident, of_files, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - of_files) * resource.getpagesize()


def _wait(child: int, streams: Path, before: int) -> Done:
    """The end of a child; its process group is killed if that does not come in time."""
    waited, late = 0.0, False
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            break
        if waited > PATIENCE and not late:
            late = True
            _kill(child)
        time.sleep(POLL_SECONDS)
        waited += POLL_SECONDS
    _kill(child)  # what it may have started
    stdout, stderr = ((streams / name).read_bytes() for name in STREAMS[1:])
    code = os.waitstatus_to_exitcode(status)
    late = late or code == -signal.SIGXCPU
    memory = max(0, (usage.ru_maxrss << 10) - before)
    return Done(code, stdout, stderr.decode(errors="backslashreplace"), memory, late)


def _kill(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _run_real(command: Command, folder: Path, streams: Path) -> Done:
    """Through the shell, as a user would; bash, whose code is the first failure of a pipe."""
    words: Sequence[str] = [sys.executable, "-m", "concatmt", *command.arguments]
    limit = (REAL_SIZE + 2 * MEMORY) >> 10
    line = f"set -o pipefail; ulimit -d {limit}; {shlex.join(words)} {command.shell}"
    with (
        (streams / "stdin").open("rb") as stdin,
        (streams / "stdout").open("wb") as stdout,
        (streams / "stderr").open("wb") as stderr,
    ):
        process = subprocess.Popen(
            ["bash", "-c", line],
            cwd=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **dict(command.environment)},
            start_new_session=True,
        )
    done = _wait(process.pid, streams, REAL_SIZE)
    process.returncode = done.code  # it has been waited for
    # Its peak would be that of this process, from which it was started: the limit stands for it.
    return replace(done, silent=command.silent, memory=0)


REAL_SIZE = 400 << 20  # bytes that Python, torch and the program take in a process of their own
