"""The pilot of docs/protocol-real.md: which settings learn fastest on the development set.

    python scripts/en_ru_pilot.py CORPUS FOLDER [--updates 300] [--variants muon-2e-3 adam-1e-3 ...]

CORPUS is what scripts/en_ru_dialogue.py wrote. What is in FOLDER is not trained again; a run that
was interrupted goes on. Prints the loss of the development set, per token and per sentence.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from concatmt.corpus.store import Store
from concatmt.tables import markdown_table
from concatmt.training.run import Run

MERGES = 8000
ADAM = ("training.optimiser.method=adam",)
TOKENS = 2048
# Merges, tokens an update, learning rate, other settings.
VARIANTS: dict[str, tuple[int, int, float, tuple[str, ...]]] = {
    "muon-2e-3": (MERGES, TOKENS, 2e-3, ()),
    "muon-1e-3": (MERGES, TOKENS, 1e-3, ()),
    "muon-4e-3": (MERGES, TOKENS, 4e-3, ()),
    "adam-1e-3": (MERGES, TOKENS, 1e-3, ADAM),
    "adam-2e-3": (MERGES, TOKENS, 2e-3, ADAM),
    "muon-16k": (2 * MERGES, TOKENS, 2e-3, ()),
    "muon-1024": (MERGES, TOKENS // 2, 2e-3, ()),
    "muon-no-dropout": (MERGES, TOKENS, 2e-3, ("model.dropout=0",)),
}


def concatmt(*words: str) -> None:
    """Run a command of ours; its output goes to where ours goes."""
    subprocess.run([sys.executable, "-m", "concatmt", *words], check=True)


def overrides(settings: tuple[str, ...]) -> list[str]:
    """As they are given on the command line."""
    return [word for setting in settings for word in ("--set", setting)]


def loss(name: str, corpus: Path, folder: Path, updates: int) -> tuple[float, float]:
    """Train a variant unless it is there; its loss per token and per sentence."""
    merges, tokens, rate, others = VARIANTS[name]
    store, output = folder / f"store-{merges}", folder / name
    if not (store / "manifest.json").is_file():
        changes = (f"corpus.root={corpus}", f"text.merges={merges}")
        concatmt("prepare", "en-ru-dialogue", "--output", str(store), *overrides(changes))
    count = updates * TOKENS // tokens
    changes = (
        f"training.tokens_per_update={tokens}",
        f"training.batch.tokens={tokens}",
        f"training.max_updates={count}",
        f"training.optimiser.learning_rate={rate}",
        f"training.optimiser.warmup={count // 5}",
        f"training.optimiser.cooldown=[{7 * count // 10},{count}]",
        f"training.validate_every={count // 3}",
        "training.average=1",
        *others,
    )
    if not Run(output).model.is_dir():
        places = ("--data", str(store), "--output", str(output))
        concatmt("train", "en-ru-dialogue", "--system", "base", *places, *overrides(changes))
    last = [record for record in Run(output).metrics() if "current_nll" in record][-1]
    valid = Store.open(store).split("valid")
    tokens_a_sentence = len(valid.target.tokens) / len(valid)
    return last["current_nll"], last["current_nll"] * tokens_a_sentence


def main() -> None:
    """Read the command line, train, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    given = parser.parse_args()
    rows = []
    for name in given.variants:
        token, sentence = loss(name, given.corpus, given.folder, given.updates)
        rows.append((name, f"{token:.3f}", f"{sentence:.2f}"))
    print(markdown_table(("variant", "nats a token", "nats a sentence"), rows))


if __name__ == "__main__":
    main()
