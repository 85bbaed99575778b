"""How batches fill an update, against hand calculations."""

import pytest

from concatmt.settings import parse_settings
from concatmt.training.config import TrainingConfig
from concatmt.training.trainer import batches_per_update


@pytest.mark.parametrize(
    ("update", "batch", "world", "count", "tokens"),
    [
        (32_000, 4_096, 1, 8, 4_000),
        (32_000, 4_096, 4, 8, 4_000),
        (32_000, 32_000, 1, 1, 32_000),
        (32_000, 99_000, 4, 4, 8_000),
        (100, 60, 1, 2, 50),
    ],
)
def test_batches_fill_an_update_whatever_the_devices(
    update: int, batch: int, world: int, count: int, tokens: int
) -> None:
    tree = {"tokens_per_update": update, "batch": {"tokens": batch}}
    config = parse_settings(TrainingConfig, tree, "test")
    batches, sized = batches_per_update(config, world)
    assert (batches, sized.tokens) == (count, tokens)
