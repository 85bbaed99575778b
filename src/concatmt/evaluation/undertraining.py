"""Whether a model was trained too little for its figures to say much about its system.

Read off its validations; rules of thumb, which is why they only ever give a warning.
"""

from collections.abc import Sequence
from typing import Any

HARDLY_ANYTHING = 4.5  # nats a token of the current sentence: a perplexity of 90
LAST = 0.25  # of the validations, at the end
FALL = 0.01  # of the loss, over that last part, from which on more training would pay
FEWEST = 4  # validations, to speak of a curve
COOLED = 0.2  # share of the highest rate below which the loss has settled


def doubt(metrics: Sequence[dict[str, Any]]) -> str | None:
    """Why more training would change the model, or None; a model without metrics gives no doubt."""
    losses = [
        float(one["current_nll"])
        for one in metrics
        if one.get("kind") == "valid" and one.get("current_nll") is not None
    ]
    if not losses:
        return None
    best = min(losses)
    if best > HARDLY_ANYTHING:
        return f"the validation loss of its current sentences is {best:.1f} nats a token"
    rates = [float(one["rate"]) for one in metrics if one.get("rate") is not None]
    cooled = bool(rates) and rates[-1] < COOLED * max(rates)
    last = max(1, round(LAST * len(losses)))
    before = min(losses[:-last], default=best)
    if len(losses) >= FEWEST and not cooled and before - best > FALL * before:
        return (
            f"its validation loss was still falling, by {before - best:.2f} nats a token over the"
            " last quarter of its training"
        )
    return None
