"""The command-line application that the verbs register with, and how errors are shown."""

import errno
import gc
import io
import os
import sys
from typing import Annotated

import typer

from concatmt import __version__
from concatmt.errors import UserError

# Newer versions of typer carry a click of their own: its base class is reached through typer.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]

# Imports make hundreds of thousands of objects that stay: to look through them again and again for
# garbage takes a tenth of the time in which a command starts.
OBJECTS_BETWEEN_COLLECTIONS = 100_000

OUT_OF_MEMORY = "out of memory; use smaller batches or a smaller model, or split long sentences"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"concatmt {__version__}")
        raise typer.Exit


@app.callback()
def concatmt(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Document-level neural machine translation by concatenation."""


def main() -> None:
    """Run a command. What the user can mend is one line on stderr and exit code 2."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    _mend_streams()
    arguments = sys.argv[1:] or ["--help"]
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        status = app(args=arguments, prog_name="concatmt", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong on our side.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (UserError, UsageProblem, OSError) as error:
        if debug:
            raise
        print(f"concatmt: error: {_one_line(error)}", file=sys.stderr)
        sys.exit(2)
    except (MemoryError, RuntimeError) as error:
        if debug or not _is_out_of_memory(error):
            raise
        print(f"concatmt: error: {OUT_OF_MEMORY}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        if debug:
            raise
        print("concatmt: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        gc.freeze()  # the end of the process frees what is left, without a look at every object


def _mend_streams() -> None:
    """Make standard streams that can be written to, whatever the shell gives.

    A closed one is None in Python, and its number would go to the next file that is opened. What is
    written is UTF-8, as all our files are, in any locale.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, this one
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _is_out_of_memory(error: Exception) -> bool:
    """Python has a type for that; torch has one on GPUs alone, and a sentence on the CPU."""
    signs = ("can't allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in signs)


def _one_line(error: Exception) -> str:
    if isinstance(error, UsageProblem):
        context = getattr(error, "ctx", None)
        hint = f" (see '{context.command_path} --help')" if context is not None else ""
        message: str = error.format_message()  # type: ignore[attr-defined]
        return " ".join(message.split()) + hint
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        advice = {
            errno.ENOSPC: "; free some space and run the command again",
            errno.EACCES: "; check the permissions",
        }.get(error.errno or 0, "")
        return f"{where}{error.strerror or error}{advice}"
    return str(error)
