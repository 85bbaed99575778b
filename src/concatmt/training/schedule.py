"""The learning rate of each update."""

import math

from concatmt.training.config import OptimiserConfig


def learning_rate(config: OptimiserConfig, update: int) -> float:
    """The rate of update 1, 2, ...: linear warm-up to the peak, then peak * sqrt(warmup / update).

    As fairseq's inverse square root schedule, whose first update is at `warmup_from`.
    """
    step = update - 1
    if step < config.warmup:
        slope = (config.learning_rate - config.warmup_from) / config.warmup
        return config.warmup_from + step * slope
    return config.learning_rate * math.sqrt(max(config.warmup, 1) / max(step, 1))
