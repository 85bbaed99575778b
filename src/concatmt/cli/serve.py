"""`concatmt serve`: serve translations over HTTP, for programs and on a web page."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.serve.config import ServeConfig

LIMITS, ACCESS, TRANSLATION = "Limits", "Access", "Translation"


@app.command()
@options_of(
    ServeConfig,
    common=("host", "port", "api_keys", "int8", "translate.search.beam"),
    names={
        "page": "no-page",
        "translate.search.constrained": "unconstrained",
        "translate.pool.windows": "batch-windows",
        "limits.characters": "char-limit",
        "limits.batch": "batch-limit",
        "limits.alternatives": "alternatives-limit",
        "limits.requests_per_minute": "req-limit",
        "limits.body": "body-limit",
    },
    groups={
        "hosts": ACCESS,
        "cors": ACCESS,
        "forwarded": ACCESS,
        "page": "Output",
        "metrics": "Output",
        "log_texts": "Output",
        "limits": LIMITS,
        "translate": TRANSLATION,
    },
    without=(
        "translate.target_context",
        "translate.nbest",
        "translate.pool.tokens",
        "translate.search.sample",
        "translate.search.temperature",
        "translate.search.seed",
    ),
)
def serve(
    models: Annotated[
        list[Path] | None, typer.Argument(help="Model directories, one for each language pair.")
    ] = None,
    *,
    config: ServeConfig,
    new_key: Annotated[
        str | None,
        typer.Option(
            help="Add a key of this name to the --api-keys file, print it, and exit.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
) -> None:
    """Serve translations with the APIs of LibreTranslate and DeepL, and on a web page.

    All clients' requests join one running search. Listens on this machine only, unless --host
    says otherwise. On SIGTERM it answers the requests it has and stops.

    **Examples**

        concatmt serve model --int8

        concatmt serve en-fr fr-en --host 0.0.0.0 --api-keys keys.txt

        concatmt serve --api-keys keys.txt --new-key subtitle-edit
    """
    from concatmt.errors import UserError

    try:
        from concatmt.serve.access import add_key
        from concatmt.serve.server import serve as run
    except ImportError as error:
        raise UserError(
            f"the server needs the extra `serve` ({error.name} is missing):"
            " pip install 'concatmt[serve]'"
        ) from None

    if new_key is not None:
        if config.api_keys is None:
            raise UserError("--new-key: also give --api-keys, the file to add it to")
        print(add_key(Path(config.api_keys), new_key))
        return
    if not models:
        raise UserError("give the model directories to serve")
    run(models, config)
