"""The learning-rate schedule."""

import math

from concatmt.training.config import OptimiserConfig


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
