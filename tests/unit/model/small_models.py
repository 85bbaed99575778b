"""Small models and random windows for the tests of the model."""

import itertools
from typing import Any

import torch

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.model.config import Architecture, ModelConfig, StackConfig
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import SEPARATOR

VOCABULARY = 23

# Every encoding x fusion x persistence of the paper.
ENCODINGS = ["", "+pers", "+shift5", "+shift5+pers"] + [
    f"+{kind}{pers}{pse}"
    for kind, pers, pse in itertools.product(("1hot", "sin", "lrn"), ("", "+pers"), ("", "+pse"))
]
# Those that act inside attention.
INSIDE = ["+rope", "+srope", "+alibi", "+sync", "+sync+pers"]
# All of them, for windows of one to four sentences.
SYSTEMS = [
    ("base" if k == 1 else f"s{k}to{k}") + encoding
    for k in (1, 2, 3, 4)
    for encoding in ENCODINGS + (INSIDE if k in (1, 4) else [])
]


def build(system: str, seed: int = 0, **settings: Any) -> Transformer:
    """A small model in evaluation mode; `settings` are those of the architecture."""
    torch.manual_seed(seed)
    stack = StackConfig(layers=2, heads=2, feed_forward=20)
    architecture = Architecture(**{"dim": 16, "encoder": stack, "decoder": stack, **settings})
    config = ModelConfig(
        architecture=architecture,
        system=parse_system(system),
        source_vocabulary=VOCABULARY,
        target_vocabulary=VOCABULARY,
    )
    return Transformer(config).eval()


def random_window(generator: torch.Generator, sentences: int) -> list[list[int]]:
    """A window of sentences of 0 to 5 words."""
    return [
        torch.randint(4, VOCABULARY, (length,), generator=generator).tolist()
        for length in torch.randint(0, 6, (sentences,), generator=generator).tolist()
    ]


def random_batch(model: Transformer, rows: int = 5, seed: int = 0) -> WindowBatch:
    """Windows of 1 to K sentences, the last of them of K."""
    generator = torch.Generator().manual_seed(seed)
    most = model.config.system.sentences
    counts = [*(1 + i % most for i in range(rows - 1)), most]
    sides = [[random_window(generator, n) for n in counts] for _ in range(2)]
    return WindowBatch.from_lists(*sides)


def log_probs(model: Transformer, batch: WindowBatch) -> torch.Tensor:
    """(B, T, V) under teacher forcing, in one pass."""
    with torch.no_grad():
        return model.log_probs(model(batch))


def running_segments(tokens: torch.Tensor, sentences: torch.Tensor) -> torch.Tensor:
    """k of decoder inputs as a search counts it: n minus the separators before each, at least 1.

    tokens: (B, T) decoder inputs; the first, `<end>`, has k = 1.
    """
    separators = (tokens == SEPARATOR).long()
    before = separators.cumsum(1) - separators
    k = (sentences[:, None] - before).clamp(min=1)
    k[:, 0] = 1
    return k


def cut(side: Side, rows: torch.Tensor) -> Side:
    """Some rows of a side, with their padding."""
    return Side(side.tokens[rows], side.lengths[rows], side.segments[rows])
