"""Small random models for tests of decoding, and windows for them."""

import random
from pathlib import Path
from typing import Any

import torch

from concatmt.corpus.batch import WindowBatch
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.model.config import Architecture, ModelConfig, StackConfig
from concatmt.model.directory import save_model
from concatmt.model.loss import target_log_probs
from concatmt.model.systems import parse_system
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings, learn_pipeline
from concatmt.text.sentence_piece import SentencePieceConfig

SYSTEMS = [
    "base",
    "s4to4",
    "s4to4+pers",
    "s4to4+shift5",
    "s3to3+cd+shift5+pers",
    "s4to4+1hot+pers",
    "s4to4+sin",
    "s4to4+lrn+pers",
    "s4to4+1hot+pse",
    "s4to4+sin+pers+pse",
    "s4to4+lrn+pers+pse",
    "s4to4+srope",
    "s4to4+alibi",
    "s4to4+sync",
]
SAMPLE = Path(__file__).parents[3] / "examples" / "sample"


# What Marian's models do otherwise.
MARIAN: dict[str, Any] = {
    "activation": "swish",
    "positions": {"first": 0, "frequencies": "half"},
    "output_bias": True,
    "start": "zero",
    "norm_epsilon": 1e-6,
}


def make_model(
    system: str,
    vocabulary: int = 50,
    dim: int = 32,
    seed: int = 0,
    sharpness: float = 4.0,
    **settings: Any,
) -> Transformer:
    """A model whose next-token distributions are far from uniform, the more the sharper.

    `settings` are those of its architecture.
    """
    torch.manual_seed(seed)
    stack = StackConfig(layers=2, heads=4, feed_forward=2 * dim)
    sizes = {"dim": dim, "encoder": stack, "decoder": stack, "embeddings": "separate"}
    config = ModelConfig(
        architecture=Architecture(**{**sizes, **settings}),
        system=parse_system(system),
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
    )
    model = Transformer(config).eval()
    with torch.no_grad():
        model.output.weight.mul_(sharpness)
        if model.output.bias is not None:
            model.output.bias.normal_()
    return model


def make_engine(system: str, vocabulary: int = 50) -> Engine:
    """The engine of such a model."""
    return Engine(make_model(system, vocabulary))


def make_windows(count: int, sentences: int, vocabulary: int = 50, seed: int = 0) -> list[Window]:
    """Windows of 1 to `sentences` sentences of 1 to 8 tokens."""
    draw = random.Random(seed)

    def sentence() -> list[int]:
        return [draw.randrange(4, vocabulary) for _ in range(draw.randint(1, 8))]

    return [
        Window([sentence() for _ in range(draw.randint(1, sentences))], number=i)
        for i in range(count)
    ]


def teacher_forced(
    model: Transformer, source: list[list[int]], target: list[list[int]]
) -> list[float]:
    """Log-probs of a whole window by the model's own forward pass."""
    batch = WindowBatch.from_lists([source], [target])
    with torch.no_grad():
        output = model.output
        return target_log_probs(model(batch), output.weight, batch.target, output.bias)[0].tolist()


def make_pipeline() -> TextPipeline:
    """SentencePiece on the sample corpus, with bytes for what it does not know."""
    settings = TextSettings(
        languages=Languages(source="en", target="de"), text=SentencePieceConfig(size=400)
    )

    def lines(side: str) -> list[str]:
        text = (SAMPLE / f"train.{side}").read_text(encoding="utf-8")
        return [line for line in text.split("\n") if line.strip()]

    return learn_pipeline(settings, lambda: lines("en"), lambda: lines("de"))


def write_model(folder: Path, system: str = "s3to3+shift4+pers", dim: int = 16) -> Path:
    """A model directory with that pipeline."""
    pipeline = make_pipeline()
    model = make_model(system, len(pipeline.source), dim)
    save_model(folder, model, lambda inside: pipeline.save(inside / "text"))
    return folder
