"""Help as plain text."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer

from concatmt.cli.app import VERBS
from concatmt.cli.help import documentation, verb_help

SCREEN = 40  # lines


def verb(
    path: Annotated[Path, typer.Argument(help="A file.")],
    others: Annotated[list[Path] | None, typer.Argument(help="More files.")] = None,
    kind: Annotated[Literal["a", "b"], typer.Option(help="Which.")] = "a",
    threads: Annotated[int, typer.Option(help="How many.", rich_help_panel="Speed")] = 0,
) -> None:
    """Do it.

    **Examples**

        concatmt verb x

        concatmt verb y
    """


SHORT = """\
Usage: concatmt verb PATH [OTHERS...] [OPTIONS]

Do it.

Examples:
  concatmt verb x
  concatmt verb y

Arguments:
  PATH         A file.
  [OTHERS...]  More files.

Options:
  --kind a|b  Which. (default: a)
  -h, --help  Show this message.

"""


def test_the_short_help_has_the_options_of_no_group_and_counts_the_others() -> None:
    more = "concatmt verb --help-all shows 1 more options: Speed."
    assert verb_help("concatmt verb", verb, everything=False) == SHORT + more


def test_the_whole_help_has_the_groups_and_a_default_of_zero() -> None:
    speed = "Speed:\n  --threads N  How many. (default: 0)"
    assert verb_help("concatmt verb", verb, everything=True) == SHORT + speed


def test_paragraphs_are_filled_and_examples_are_left_as_they_are() -> None:
    long = "word " * 30
    text = documentation(f"{long}\n\n**Examples**\n\n    {long}")
    assert text.splitlines()[0] == ("word " * 16).strip()
    assert text.endswith(f"Examples:\n  {long.strip()}")


@pytest.mark.parametrize("name", VERBS)
def test_the_help_of_a_verb_fits_a_screen_and_does_not_load_torch(name: str) -> None:
    code = (
        "import sys\nfrom concatmt.cli import main\n"
        f"sys.argv = ['concatmt', {name!r}, '--help']\n"
        "try: main()\nfinally: print('torch' in sys.modules, file=sys.stderr)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stderr == "False\n"
    assert 5 < shown.stdout.count("\n") <= SCREEN
