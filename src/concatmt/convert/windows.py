"""A model of single sentences becomes one of windows, before any training on them.

Does not know where the model comes from.
"""

from typing import Literal

import torch
from torch import nn

from concatmt.model.config import ModelConfig, SystemConfig
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.settings import parse_settings
from concatmt.text.vocabulary import END, SEPARATOR, SPECIALS

Separator = Literal["copy", "mean"]


def with_system(
    model: Transformer, system: SystemConfig, separator: Separator, sentence_length: float | None
) -> Transformer:
    """The same weights for another system; parameters of segments start as nothing.

    `copy` starts the separator as a copy of `<end>`: the model then already says with it that a
    sentence is over. `mean` starts it as the mean of all symbols.
    """
    first = model.config.system.sentences == 1 < system.sentences
    tree = {
        **model.config.model_dump(),
        "system": system.model_dump(),
        "sentence_length": sentence_length or model.config.sentence_length,
    }
    config = parse_settings(ModelConfig, tree, system_name(system))
    torch_state = {name: p.detach().clone() for name, p in model.named_parameters()}
    wider = Transformer(config)
    with torch.no_grad():
        for name, parameter in wider.named_parameters():
            if name in torch_state and torch_state[name].shape == parameter.shape:
                parameter.copy_(torch_state[name])
            else:
                parameter.zero_()
        if first:
            _start_separator(wider, separator)
    return wider.eval()


def _start_separator(model: Transformer, how: Separator) -> None:
    output: nn.Linear = model.output
    tables = [model.source_embedding.weight, model.target_embedding.weight, output.weight]
    for table in {id(table): table for table in tables}.values():
        ordinary = table[len(SPECIALS) :]
        table[SEPARATOR] = table[END] if how == "copy" else ordinary.mean(dim=0)
    if output.bias is not None:
        ordinary = output.bias[len(SPECIALS) :]
        output.bias[SEPARATOR] = output.bias[END] if how == "copy" else ordinary.mean()
