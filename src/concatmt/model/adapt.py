"""Adapts a model to another system, such as one of single sentences to windows.

Parameters of segments start at zero, so that the function does not change at first. Does not know
where the weights come from or how models are trained.
"""

from typing import Literal, cast

import torch
from torch import nn

from concatmt.errors import UserError
from concatmt.model.config import ModelConfig, SystemConfig
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.settings import parse_settings
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

Separator = Literal["mean", "copy"]


def with_system(
    model: Transformer, system: SystemConfig, separator: Separator, sentence_length: float | None
) -> Transformer:
    """The same weights for another system; see `take_weights`."""
    tree = {
        **model.config.model_dump(),
        "system": system.model_dump(),
        "sentence_length": sentence_length or model.config.sentence_length,
    }
    config = parse_settings(ModelConfig, tree, system_name(system))
    wider = Transformer(config)
    take_weights(wider, model, separator, system_name(model.config.system))
    return wider.eval()


@torch.no_grad()
def take_weights(model: Transformer, other: Transformer, separator: Separator, name: str) -> None:
    """Fill `model` with the weights of `other`; what it lacks (segments) starts at zero.

    If the other model is one of single sentences and this one is not, the separator's rows start
    as the mean of all symbols, which says nothing, or as a copy of those of `<end>`, which says
    that a sentence is over and, to the decoder, that all is said. `name` is the other model's in
    messages.
    """
    weights = dict(other.named_parameters())
    for key, parameter in model.named_parameters():
        theirs = weights.get(key)
        if theirs is None and key.startswith("encoding."):
            parameter.zero_()
        elif theirs is None or theirs.shape != parameter.shape:
            raise UserError(f"{name}: its {key!r} does not fit; use the same sizes and windows")
        else:
            parameter.copy_(theirs)
    if other.config.system.sentences == 1 < model.config.system.sentences:
        _start_separator(model, separator)


def _start_separator(model: Transformer, how: Separator) -> None:
    for table in tables_of(model):
        ordinary = table[len(SPECIALS) :]
        table[SEPARATOR] = table[END] if how == "copy" else ordinary.mean(dim=0)
    bias = model.output.bias
    if bias is not None:
        ordinary = bias[len(SPECIALS) :]
        bias[SEPARATOR] = bias[END] if how == "copy" else ordinary.mean()


def tables_of(model: Transformer) -> list[nn.Parameter]:
    """The matrices with a row for each symbol, without repeating shared ones."""
    output: nn.Linear = model.output
    tables = [model.source_embedding.weight, model.target_embedding.weight, output.weight]
    return list({id(table): cast("nn.Parameter", table) for table in tables}.values())
