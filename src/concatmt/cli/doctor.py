"""`concatmt doctor`: report what this installation and machine have, and any problems."""

import typer

from concatmt.cli.app import app


@app.command()
def doctor() -> None:
    """Show versions, processor, kernels, GPU, extras and cache; exit code 1 if there is a problem.

    **Examples**

        concatmt doctor
    """
    from concatmt.setup.doctor import examine

    facts = examine()
    for fact in facts:
        print(fact)
    if any(fact.problem for fact in facts):
        raise typer.Exit(1)
