"""Speed of fine-tuning OPUS-MT on windows, beside a plain loop over MarianMT of transformers.

    python benchmarks/finetune.py DIRECTORY MODEL STORE [--precision bf16] [--rounds 5]

DIRECTORY is the model of Hugging Face, MODEL what `concatmt convert` made of it, STORE what
`concatmt prepare --text MODEL` made. Runs in an environment that has both concatmt and
transformers. All loops see the same batches, in turn, one update each, in one process; seconds are
CPU time, so that what else the machine does counts for none.

Loops: ours, the preset `finetune`; *plain*, transformers as its users write it: cross-entropy of
all tokens, all parameters; *same work*, transformers with the loss of the current sentence alone
and frozen embeddings.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from concatmt.config import Config
from concatmt.corpus.batch import Side, WindowBatch
from concatmt.corpus.store import Store
from concatmt.corpus.windows import Windows
from concatmt.model.systems import parse_system
from concatmt.processor import name_of_processor
from concatmt.settings import load_settings
from concatmt.text.vocabulary import END, PAD, SEPARATOR, UNK
from concatmt.training.processes import Processes
from concatmt.training.run import Run
from concatmt.training.train import build_model, make_task
from concatmt.training.trainer import Trainer

Loop = Callable[[WindowBatch], float]
SYSTEM = "s4to4+cd"
IGNORED = -100  # a label that transformers leaves out of its loss


def our_loop(model: Path, store: Store, folder: Path, options: argparse.Namespace) -> Trainer:
    """A trainer of the preset, that never validates."""
    settings = load_settings(
        Config,
        "finetune",
        [
            f"training.precision={options.precision}",
            f"training.tokens_per_update={options.tokens}",
            f"training.batch.tokens={options.tokens}",
        ],
    )
    task = make_task(
        store.folder, parse_system(SYSTEM), settings.model, settings.training, 1, model
    )
    torch.manual_seed(1)
    windows = Windows.of(store.split("train"), 4)
    run = Run(folder)
    run.folder.mkdir(parents=True)
    alone = Processes(0, 1, torch.device("cpu"))
    return Trainer(run, build_model(store, task), task.training, windows, windows, 1, alone)


def their_loop(directory: Path, same_work: bool, options: argparse.Namespace) -> Loop:
    """Updates of transformers' model by a plain loop."""
    from transformers import MarianMTModel

    model: Any = MarianMTModel.from_pretrained(directory).train()
    padding = model.config.pad_token_id
    model.resize_token_embeddings(padding + 2)  # a separator
    if same_work:
        model.model.shared.weight.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=5e-5, fused=True)

    def ids(tokens: Tensor) -> Tensor:
        """Their numbers of our symbols: theirs begin with </s> and <unk> and end with <pad>."""
        special = {PAD: padding, UNK: 1, SEPARATOR: padding + 1, END: 0}
        theirs = tokens - 2
        for ours, other in special.items():
            theirs = theirs.masked_fill(tokens == ours, other)
        return theirs

    def labels(side: Side) -> Tensor:
        counts = side.segments == 1 if same_work else side.segments > 0
        return ids(side.tokens).masked_fill(~counts, IGNORED)

    def update(batch: WindowBatch) -> float:
        start = time.process_time()
        with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16"):
            loss = model(
                input_ids=ids(batch.source.tokens),
                attention_mask=batch.source.mask,
                decoder_input_ids=ids(batch.target.shifted_right().tokens).masked_fill(
                    batch.target.segments == 0, padding
                ),
                labels=labels(batch.target),
            ).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        optimiser.zero_grad()
        return time.process_time() - start

    return update


def compare(options: argparse.Namespace) -> None:
    """Print seconds of each round and the ratios of medians."""
    store = Store.open(options.store)
    with tempfile.TemporaryDirectory() as folder:
        trainer = our_loop(options.model, store, Path(folder) / "run", options)

        def ours(batch: WindowBatch) -> float:
            start = time.process_time()
            trainer.update([batch])
            return time.process_time() - start

        loops: dict[str, Loop] = {
            "ours": ours,
            "plain": their_loop(options.directory, False, options),
            "same work": their_loop(options.directory, True, options),
        }
        seconds: dict[str, list[float]] = {name: [] for name in loops}
        tokens: list[int] = []
        for number, (batch,) in enumerate(islice(trainer.updates(), options.rounds + 1)):
            for name, loop in loops.items():
                cost = loop(batch)
                if number:  # the first one warms up
                    seconds[name].append(cost)
            if number:
                tokens.append(batch.target.token_count)
    print(f"{name_of_processor()}, {options.threads} thread, {options.precision}, torch", end=" ")
    print(f"{torch.__version__}, {len(tokens)} rounds, {statistics.mean(tokens):,.0f} tokens each")
    speed = {
        name: statistics.median(n / s for n, s in zip(tokens, spent, strict=True))
        for name, spent in seconds.items()
    }
    for name, spent in seconds.items():
        rounds = ", ".join(f"{s:.2f}" for s in spent)
        ratio = speed["ours"] / speed[name]
        print(f"{name:10} {speed[name]:8,.0f} target tokens/s, ours {ratio:.2f} times: {rounds} s")


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("directory", "model", "store"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    compare(options)


if __name__ == "__main__":
    main()
