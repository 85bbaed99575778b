"""The optimisers and the learning rate of each update. Does not know the training loop."""

import math
from collections.abc import Mapping

from torch.nn import Parameter
from torch.optim import AdamW, Optimizer

from concatmt.model.transformer import Transformer
from concatmt.training.config import OptimiserConfig
from concatmt.training.muon import Muon

STACKED = {"qkv": 3, "kv": 2}  # projections stored in one matrix


def make_optimisers(
    model: Transformer,
    config: OptimiserConfig,
    parameters: Mapping[str, Parameter] | None = None,
) -> list[Optimizer]:
    """Adam for everything, or Muon for the matrices of the blocks and Adam for the rest.

    `parameters` are the trained ones; by default all of the model's.
    """
    matrices = _matrices(model) if config.method == "muon" else {}
    chosen = list(model.parameters() if parameters is None else parameters.values())
    taken = {id(p) for group in matrices.values() for p in group}
    adam = AdamW(
        [p for p in chosen if id(p) not in taken],
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=True,
    )
    if not matrices:
        return [adam]
    groups = [{"params": group, "parts": parts} for parts, group in matrices.items()]
    return [
        adam,
        Muon(groups, config.learning_rate, config.muon_momentum, config.weight_decay),
    ]


def _matrices(model: Transformer) -> dict[int, list[Parameter]]:
    """The weights of the linear layers of all blocks, by the number of projections in them."""
    by_projections: dict[int, list[Parameter]] = {}
    for stack in (model.encoder, model.decoder):
        for name, parameter in stack.named_parameters():
            if parameter.ndim == 2 and parameter.requires_grad:
                layer = name.split(".")[-2]
                by_projections.setdefault(STACKED.get(layer, 1), []).append(parameter)
    return by_projections


def learning_rate(config: OptimiserConfig, update: int) -> float:
    """The rate of update 1, 2, ...: linear warm-up to the peak, then peak * sqrt(warmup / update).

    Like fairseq's inverse square root schedule, whose first update is at `warmup_from`. With a
    cooldown the rate falls to zero at the end, so that a short run ends near its minimum.
    """
    rate = _inverse_square_root(config, update - 1)
    if config.cooldown is None:
        return rate
    first, last = config.cooldown
    return rate * min(1.0, max(0.0, (last + 1 - update) / (last - first)))


def _inverse_square_root(config: OptimiserConfig, step: int) -> float:
    if step < config.warmup:
        slope = (config.learning_rate - config.warmup_from) / config.warmup
        return config.warmup_from + step * slope
    return config.learning_rate * math.sqrt(max(config.warmup, 1) / max(step, 1))
