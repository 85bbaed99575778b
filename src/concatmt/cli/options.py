"""Arguments that several verbs take."""

from typing import Annotated

import typer

ConfigArgument = Annotated[str, typer.Argument(help="A YAML file, or the name of a preset.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, as in text.size=8000."),
]
