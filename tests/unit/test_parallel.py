"""Work on several processes loses nothing and keeps the order."""

import pytest

from concatmt.parallel import map_in_order


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 20])
def test_results_come_in_the_order_of_the_inputs(count: int, workers: int) -> None:
    assert list(map_in_order(abs, iter(range(-count, 0)), workers)) == list(range(count, 0, -1))
