"""The command-line application that the verbs register with, and how errors are shown.

A verb's module is imported when the verb is called, so that one verb does not wait for another's
imports. Does not know what verbs do.
"""

import ast
import errno
import gc
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer
import typer.core

from concatmt import __version__
from concatmt.cli.help import HELP_ALL, group_help, options_table, verb_help
from concatmt.cli.old_names import current
from concatmt.errors import UserError, one_line
from concatmt.plugins import load_plugins

# Newer versions of typer carry a click of their own: its base class is reached through typer.
UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]

# Imports make hundreds of thousands of objects that stay alive: scanning them again and again for
# garbage takes a tenth of a command's start-up time.
OBJECTS_BETWEEN_COLLECTIONS = 100_000

OUT_OF_MEMORY = "out of memory; use smaller batches or a smaller model, or split long sentences"

# In the order in which people meet them. The module of a verb has its name; the first line of that
# module says what the verb does.
VERBS = (
    *("demo", "init", "prepare", "train", "translate", "score", "evaluate", "inspect"),
    *("convert", "serve", "testbed", "paper", "doctor"),
)
GLOBAL_OPTIONS = (
    ("--plugin FILE", "Load a plug-in, a file or a module; may be repeated."),
    ("--version", "Show the version."),
    (
        "--install-completion",
        "Set up completion for this shell (--show-completion prints the script).",
    ),
    ("--debug", "Show tracebacks of errors, and the matrix library in use."),
    ("-h, --help", "Show this message."),
)
F = TypeVar("F", bound=Callable[..., Any])


class Verb(typer.core.TyperCommand):
    """A command whose help is short by default and complete with `--help-all`."""

    show_all = False

    def get_help(self, ctx: Any) -> str:
        """Return the help as plain text."""
        assert self.callback is not None
        return verb_help(ctx.command_path, self.callback, self.show_all)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write plain text; Typer would draw boxes."""
        formatter.write(self.get_help(ctx))


class Group(typer.core.TyperGroup):
    """A verb with verbs below it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write plain text; Typer would draw boxes."""
        commands = [
            (name, (command.help or "").partition("\n")[0])
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        ]
        more = f"{ctx.command_path} COMMAND --help explains a command."
        formatter.write(group_help(ctx.command_path, self.help or "", "Commands", commands, [more]))


class Verbs(typer.core.TyperGroup):
    """The group of all verbs; imports a verb's module only when that verb is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of this name."""
        if cmd_name not in VERBS:
            return None
        load_verb(cmd_name)
        whole: Any = typer.main.get_group(app)
        return whole.commands[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the verbs without importing them."""
        verbs = [(verb, _summary(verb)) for verb in VERBS]
        more = [
            options_table(GLOBAL_OPTIONS),
            f"concatmt VERB --help explains a verb; concatmt VERB {HELP_ALL} lists every option.",
        ]
        formatter.write(group_help("concatmt", self.help or "", "Verbs", verbs, more))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the verbs before Typer looks for names close to a mistyped one."""
        self.commands = dict.fromkeys(VERBS) | dict(self.commands)  # type: ignore[assignment]
        return super().resolve_command(ctx, args)


class Application(typer.Typer):
    """Makes a `Verb` of each command."""

    def command(self, *args: Any, **options: Any) -> Callable[[F], F]:
        """Register a command, as Typer's method of this name does."""
        return super().command(*args, **{"cls": Verb} | options)


app = Application(
    cls=Verbs,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
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
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks of errors, and the matrix library in use."),
    ] = False,
) -> None:
    """Document-level neural machine translation by concatenation."""


def load_verb(name: str) -> None:
    """Import the module of a verb, which registers it."""
    importlib.import_module(_module(name))


def _show_products() -> None:
    """Print which library multiplied matrices, if the command multiplied any."""
    products = sys.modules.get("concatmt.model.products")
    if products is not None:
        print(f"concatmt: products by {products.described()}", file=sys.stderr)


def _module(verb: str) -> str:
    return f"concatmt.cli.{verb.replace('-', '_')}"


def _summary(verb: str) -> str:
    """What a verb does: the first line of its module after its name, read without importing it."""
    spec = importlib.util.find_spec(_module(verb))
    loader: Any = spec.loader if spec is not None else None
    text = ast.get_docstring(ast.parse(loader.get_source(_module(verb)))) or ""
    summary = text.splitlines()[0].partition(": ")[2]
    return summary[:1].upper() + summary[1:]


def main() -> None:
    """Run a command. An error that the user can fix is one line on stderr, exit code 2."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    _mend_streams()
    arguments = sys.argv[1:] or ["--help"]
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    Verb.show_all = HELP_ALL in arguments
    arguments = ["--help" if argument == HELP_ALL else argument for argument in arguments]
    try:
        arguments, plugins = _taken(arguments, "--plugin")
        arguments = current(arguments)
        if "--help" not in arguments and "-h" not in arguments:
            load_plugins(plugins)
        status = app(args=arguments, prog_name="concatmt", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except BrokenPipeError:
        # Whoever read our output has closed the pipe (`| head`): not an error of ours.
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
        if debug:
            _show_products()
        gc.freeze()  # the process is about to end; do not scan every object before it does


def _taken(arguments: list[str], option: str) -> tuple[list[str], list[str]]:
    """Take an option that may appear anywhere out of the arguments; its values come second."""
    rest: list[str] = []
    values: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == option:
            value = next(words, None)
            if value is None:
                raise UserError(f"{option}: needs a value")
            values.append(value)
        elif word.startswith(f"{option}="):
            values.append(word.removeprefix(f"{option}="))
        else:
            rest.append(word)
    return rest, values


def _mend_streams() -> None:
    """Make sure that the standard streams can be written to, whatever the shell passes on.

    Python has None for a closed stream, and the next file opened would get its number. Output
    is UTF-8 in any locale, like all our files.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, this one
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _is_out_of_memory(error: Exception) -> bool:
    """Python has a type for this; torch has one for GPUs only, and just a message on the CPU."""
    signs = ("can't allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in signs)


def _one_line(error: Exception) -> str:
    if isinstance(error, UsageProblem):
        context = getattr(error, "ctx", None)
        hint = f" (see '{context.command_path} --help')" if context is not None else ""
        message: str = error.format_message()  # type: ignore[attr-defined]
        return one_line(message) + hint
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        advice = {
            errno.ENOSPC: "; free some space and run the command again",
            errno.EACCES: "; check the permissions",
        }.get(error.errno or 0, "")
        return f"{where}{error.strerror or error}{advice}"
    return str(error)
