"""`concatmt testbed`: generate a discourse corpus whose bounds are known exactly."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.cli.options import options_of
from concatmt.testbed.dials import Dials, check_dials

SIZES, PHENOMENA, SHAPE, HELD_OUT = "Sizes", "Phenomena", "Sentences", "Held out of training"
GROUPS = {
    SIZES: ("valid_documents", "test_documents", "items"),
    PHENOMENA: ("tasks", "weights", "density", "window", "distance", "speakers"),
    SHAPE: ("scenes", "around", "length", "length_shift"),
    HELD_OUT: ("hold_out_distances", "hold_out_words"),
}


@app.command()
@options_of(
    Dials,
    "dials",
    names={"window": "window -K"},
    groups={setting: group for group, settings in GROUPS.items() for setting in settings},
)
def testbed(
    dials: Dials,
    output: Annotated[Path, typer.Option(help="Folder to write; an older testbed is replaced.")],
) -> None:
    """Generate documents in which some sentences need others to be translated.

    Writes text, contrastive sets and a card with the best accuracy that partial context allows.

    **Examples**

        concatmt testbed --pair en-ru --output data/testbed --seed 1

        concatmt testbed --pair en-de --output sparse --documents 8000 --density 0.15 -K 8

        concatmt testbed --pair en-ru --output turns --tasks tv,spk --speakers 3
    """
    from concatmt.testbed.card_text import summary
    from concatmt.testbed.corpus import write_testbed

    check_dials(dials)
    print(summary(write_testbed(dials, output), str(output)))
