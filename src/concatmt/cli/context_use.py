"""`concatmt context-use`: how much likelier context makes the translations."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


@app.command("context-use")
def context_use(
    scores: Annotated[Path, typer.Argument(help="What `concatmt score` wrote.")],
    output: Annotated[
        Path | None, typer.Option(help="JSON to write, with the figure of every token.")
    ] = None,
) -> None:
    """Show CXMI: what context adds to the log-probability of given translations, in nats.

    The scores must be of one model with --context 0 and other amounts. Intervals are over
    documents.

    **Examples**

        concatmt context-use scores.jsonl --output context-use.json
    """
    from concatmt.evaluation import context_use as run
    from concatmt.files import write_json
    from concatmt.tables import markdown_table

    signature, sentences = run.read_scores(scores)
    found = run.context_use(sentences)
    rows = []
    for one in found:
        low, high = one.per_sentence.low, one.per_sentence.high
        interval = "-" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"
        rows.append(
            (
                str(one.context),
                f"{one.per_sentence.value:+.3f}",
                interval,
                f"{one.per_token:+.4f}",
                f"{100 * one.gaining:.1f}%",
                f"{one.sentences:,}",
            )
        )
    header = ("context", "CXMI a sentence", "95% interval", "a token", "gaining", "sentences")
    print(markdown_table(header, rows))
    print(f"\nsignature: {signature}")
    if output is not None:
        figures = [
            {
                "context": one.context,
                "cxmi": one.per_sentence.value,
                "interval": [one.per_sentence.low, one.per_sentence.high],
                "cxmi_per_token": one.per_token,
                "gaining": one.gaining,
                "sentences": one.sentences,
            }
            for one in found
        ]
        tokens = run.token_gains(sentences)
        write_json(
            output, {"signature": signature.to_json(), "figures": figures, "sentences": tokens}
        )
