"""`concatmt inspect`: statistics, windows, translations side by side, attention, figures."""

from concatmt.cli.app import Application, Group, app

inspections = Application(
    cls=Group,
    no_args_is_help=True,
    help="Look into stores, translations and models; draw the encodings.",
)
app.add_typer(inspections, name="inspect")

from concatmt.cli.inspect import (  # noqa: E402, F401  each registers itself with the group
    attention,
    compare,
    context_use,
    figure,
    show,
    stats,
)
