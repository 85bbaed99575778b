"""The `concatmt` command: one module per verb, imported when the verb is called."""

from concatmt.cli.app import main

__all__ = ["main"]
