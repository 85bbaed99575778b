"""Checks what the pages say one can type: options of every command, and what runs here is run.

    python -m scripts.check_docs [PAGE...] [--no-run] [--keep FOLDER]

Each command line of concatmt, in a block or in a sentence, is read by the real command line without
being executed, so a verb or an option that does not exist is found. Then the blocks of the pages
are run, each page in a folder of its own, on stand-ins (`stand_ins.py`): a generated corpus, models
of a few updates, a film. What needs something else is not run; NOT_HERE says why. Paths
of the repository that a page names must exist. Links are checked by `mkdocs build --strict`.
"""

import argparse
import itertools
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from concatmt.cli import app as command_line
from concatmt.config import Config
from concatmt.errors import UserError
from concatmt.settings import load_settings
from scripts import stand_ins
from scripts.stand_ins import FEW, ROOT, SMALL

PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md")
# A block is one of commands if its first line begins with one of these.
COMMANDS = ("concatmt", "torchrun", "pip", "curl", "hf", "make", "cat", "printf", "head", "python")
COMMANDS += ("export", "git", "nohup", "sh")
NOT_HERE = (
    (
        r"^pip |^make |^git |^nohup |^hf |(^|[A-Z]+=\S* )sh scripts",
        "changes the machine, or takes hours",
    ),
    (r"^python (scripts|benchmarks)/", "belongs to the repository and takes hours"),
    (r"concatmt demo", "`make wheel-check` runs it"),
    (r"en-ru-opensubtitles|en-de-iwslt17|en-ru-dialogue", "needs corpora that must be downloaded"),
    (r"concatmt paper (en-|all|questions|report)", "runs or reads the results of the repository"),
    (r"contrapro|ctxpro|voita|deixis_test|items\.(out\.)?jsonl", "needs a published test set"),
    (r"for-ctranslate2|ctranslate2", "needs the extra ctranslate2; tests/unit/conversion runs it"),
    (r"\[z_]", "a form, not a command"),
)
LITTLE = (
    "--samples 10 --set contexts=[none] --set documents=2 --set attention_documents=1"
    " --set translate.search.beam=1"
)
PRESETS = {path.stem for path in (ROOT / "src" / "concatmt" / "presets").glob("*.yaml")}
PATH = re.compile(
    r"`((?:(?:src|tests|scripts|benchmarks|examples|docs)/[\w./-]+)|results/[\w-]+\.md)`"
)
PATIENCE = 120.0  # seconds for a server to listen
STEP = 0.5


@dataclass(frozen=True)
class Block:
    """Lines of a page that stand together as code, each continued line joined to its first."""

    page: str
    line: int
    lines: tuple[str, ...]

    @property
    def is_shell(self) -> bool:
        """Whether it is something to type."""
        words = [word for word in self.lines[0].split() if "=" not in word] if self.lines else []
        return bool(words) and words[0] in COMMANDS


def blocks_of(page: str, text: str) -> Iterator[Block]:
    """Fenced blocks of sh or of no language, and indented ones."""
    collected: list[str] = []
    start, fence, before = 0, None, ""
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if fence is None and line.startswith("```"):
            fence, start, collected = line[3:].strip(), number, []
        elif fence is not None and line.startswith("```"):
            if fence in ("", "sh"):
                yield Block(page, start, _joined(collected))
            fence, collected = None, []
        elif fence is not None or (line.startswith("    ") and (collected or not before.strip())):
            start = start if collected else number
            collected.append(line if fence is not None else line[4:])
        elif collected and line.strip():
            yield Block(page, start, _joined(collected))
            collected = []
        before = line


def _joined(lines: list[str]) -> tuple[str, ...]:
    """Lines that a backslash or an open quotation continues become one."""
    text, found, begun = re.sub(r"\\\n\s*", "", "\n".join(lines)), [], ""
    for line in filter(str.strip, text.splitlines()):
        begun += line
        if not (begun.count("'") % 2 or begun.count('"') % 2) or begun.count("'") == 1:
            found.append(begun)
            begun = ""
    return tuple(found)


def commands_in(line: str) -> Iterator[list[str]]:
    """The calls of concatmt in a line of a shell, as words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word[0] in "|&;<>":
            if "concatmt" in words:
                yield words[words.index("concatmt") + 1 :]
            words = []
        else:
            words.append(word)


def problem_of(words: list[str]) -> str | None:
    """What the real command line says of the words after `concatmt`."""
    while words[:1] == ["--plugin"]:
        words = words[2:]
    if not words or words[0] in ("--version", "--install-completion", "--help", "VERB"):
        return None
    group = typer.main.get_command(command_line.app)
    context = group.make_context("concatmt", [], resilient_parsing=True)
    try:
        verb, arguments = words[0], words[1:]
        command = group.get_command(context, verb)
        while command is not None and hasattr(command, "list_commands"):
            if not arguments or arguments[0].startswith("-"):
                return None
            inner = command.make_context(verb, [], parent=context, resilient_parsing=True)
            command, arguments = command.get_command(inner, arguments[0]), arguments[1:]
        if command is None:
            return f"there is no {' '.join(words[:2])}"
        if set(arguments) & {"--help", "--help-all"}:
            return None
        command.make_context(verb, list(arguments), parent=context)
        given = [value for name, value in itertools.pairwise(arguments) if name == "--set"]
        if verb in ("train", "prepare"):
            load_settings(Config, arguments[0] if arguments[0] in PRESETS else "testbed", given)
    except UserError as error:
        return str(error)
    except command_line.UsageProblem as error:
        return str(error.format_message())  # type: ignore[attr-defined]
    return None


def check_options(page: str, text: str) -> Iterator[str]:
    """Every call of concatmt in blocks, and in sentences between backticks."""
    for block in blocks_of(page, text):
        for line in block.lines if block.is_shell else ():
            for words in commands_in(line):
                if problem := problem_of(words):
                    yield f"{page}:{block.line}: concatmt {shlex.join(words)}: {problem}"
    for match in re.finditer(r"`concatmt ([a-z][^`]* [^`]+)`", text):
        words = shlex.split(match[1].replace("\n", " "))
        # A sentence may leave out what is required; an option that there is not is still one.
        problem = problem_of([word for word in words if word != "..."])
        if problem and not problem.startswith("Missing"):
            yield f"{page}: `concatmt {match[1]}`: {problem}"


def check_paths(page: str, text: str) -> Iterator[str]:
    """Files of the repository that are named."""
    for match in PATH.finditer(text):
        if not (ROOT / match[1]).exists():
            yield f"{page}: {match[1]}: there is no such file"


class Shell:
    """Runs the blocks of a page in a folder; a server runs on until the next one or the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server: subprocess.Popen[bytes] | None = None
        self.port = 5000
        (folder / "bin").mkdir()
        call_it = f'#!/bin/sh\nexec {sys.executable} -m concatmt "$@"\n'
        (folder / "bin" / "concatmt").write_text(call_it)
        (folder / "bin" / "concatmt").chmod(0o755)
        beside = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PATH": f"{folder / 'bin'}:{beside}:{os.environ['PATH']}",
        }

    def run(self, block: Block) -> Iterator[str]:
        """Each command in turn, with what `export` said; what went wrong comes back."""
        exports = ""
        for line in block.lines:
            if reason := not_here(line):
                print(f"  not run ({reason}): {line}")
            elif re.match(r"concatmt serve (?!.*--new-key)", line):
                yield from self._serve(block, line)
            elif line.startswith("export "):
                exports += line + "\n"
            else:
                here = small(line.replace(":5000", f":{self.port}"))
                print(f"  $ {here}", flush=True)
                done = subprocess.run(
                    ["sh", "-ec", exports + here],
                    cwd=self.folder,
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    stdin=subprocess.DEVNULL,
                )
                failed = '"error"' in done.stdout if here.startswith("curl") else False
                if done.returncode or failed:
                    told = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
                    yield f"{block.page}:{block.line}: {here}: exit {done.returncode}: {told}"

    def _serve(self, block: Block, line: str) -> Iterator[str]:
        words = shlex.split(line.partition("#")[0])[1:]
        if "fr-en" in words or "--host" in words:
            print(f"  not run (two models, or listens to the world): {line}")
            return
        self.close()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "concatmt", *words, "--port", str(self.port)]
        print(f"  $ {shlex.join(command[2:])} &", flush=True)
        self.server = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.server.poll() is None:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(STEP)
        yield f"{block.page}:{block.line}: {line}: does not listen"

    def close(self) -> None:
        """End the server."""
        if self.server is not None:
            self.server.terminate()
            self.server.wait(PATIENCE)
            self.server = None


def small(line: str) -> str:
    """A command that would take long, with settings that make it short; the others as they are."""
    line = re.sub(r"--nproc-per-node \d+", "--nproc-per-node 1", line)
    if re.search(r"concatmt( --plugin \S+)? train ", line):
        # The run that the stand-ins hold goes on, so its settings must be these.
        sizes = "--set training.samples.documents=1" if "--init" in line else SMALL
        return f"{line} {sizes} {FEW}"
    if re.search(r"concatmt( --plugin \S+)? evaluate .*--on ", line):
        return f"{line} {LITTLE}"
    if re.search(r"concatmt testbed ", line):
        return f"{line} --documents 100 --items 4 --test-documents 4"
    return line


def not_here(line: str) -> str | None:
    """Why a command is not run."""
    return next((reason for pattern, reason in NOT_HERE if re.search(pattern, line)), None)


def main() -> None:
    """All pages; exit code 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="only these")
    parser.add_argument("--no-run", action="store_true", help="check options and paths alone")
    parser.add_argument("--keep", type=Path, help="folder to work in, which stays")
    given = parser.parse_args()
    pages = given.pages or [path for one in PAGES for path in sorted(ROOT.glob(one))]
    problems = []
    texts = {path.resolve().relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in pages}
    for page, text in texts.items():
        problems += [*check_options(page, text), *check_paths(page, text)]
    if not given.no_run:
        with tempfile.TemporaryDirectory(prefix="concatmt-docs-") as name:
            problems += run_pages(given.keep or Path(name), texts)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(texts)} pages, {len(problems)} problems")
    sys.exit(bool(problems))


def run_pages(folder: Path, texts: dict[str, str]) -> list[str]:
    """Every page in a fresh copy of the stand-ins."""
    ready = folder / "stand-ins"
    if not ready.exists():
        ready.mkdir(parents=True)
        stand_ins.make(ready)
    problems = []
    for page, text in texts.items():
        here = folder / page.replace("/", "-")
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(ready, here)
        shell = Shell(here)
        print(page, flush=True)
        try:
            for block in blocks_of(page, text):
                for problem in shell.run(block) if block.is_shell else ():
                    print(f"  PROBLEM {problem}", flush=True)
                    problems.append(problem)
        finally:
            shell.close()
    return problems


if __name__ == "__main__":
    main()
