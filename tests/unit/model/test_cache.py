"""The memory of caches: lent, taken back, used again."""

import torch

from concatmt.model.cache import Cache, Slabs


def fill(cache: Cache, rows: int, columns: int) -> torch.Tensor:
    keys = torch.rand(rows, 2, columns, 4)
    kept, _ = cache.writer(0)(keys, keys)
    cache.advance(columns)
    return kept


def test_a_released_buffer_serves_the_next_cache() -> None:
    slabs = Slabs()
    first = Cache(1, 8, slabs)
    place = fill(first, rows=3, columns=2).data_ptr()
    second = Cache(1, 8, slabs)
    assert fill(second, rows=3, columns=2).data_ptr() != place
    first.release()
    third = Cache(1, 8, slabs)
    assert fill(third, rows=2, columns=3).data_ptr() == place
    assert first.length == 0


def test_no_more_buffers_are_kept_than_were_lent_at_once() -> None:
    slabs = Slabs()
    for rows in range(1, 9):
        cache = Cache(1, 8, slabs)
        fill(cache, rows, columns=2)
        cache.release()
        assert len(slabs._free) == 1


def test_growing_and_selecting_keep_what_was_written() -> None:
    torch.manual_seed(0)
    cache = Cache(1, 2, Slabs())
    first = fill(cache, rows=3, columns=2).clone()
    both = fill(cache, rows=3, columns=2)
    assert torch.equal(both[:, :, :2], first)
    expected = both[[2, 0]].clone()
    cache.select(torch.tensor([2, 0]))
    assert torch.equal(fill(cache, rows=2, columns=1)[:, :, :4], expected)


def test_rows_that_join_with_more_columns_than_there_is_room_for_make_room() -> None:
    few, many = torch.randn(2, 3, 2, 2, 4), torch.randn(2, 1, 2, 9, 4)
    mine, theirs = Cache(layers=1, capacity=2), Cache(layers=1, capacity=9)
    mine.writer(0)(few[0], few[1])
    mine.advance(2)
    theirs.writer(0)(many[0], many[1])
    theirs.advance(9)
    mine.put(torch.tensor([1]), theirs)
    assert mine.length == 9
    more = torch.zeros(3, 2, 1, 4)
    keys, values = mine.writer(0)(more, more)
    for side, (all_columns, joined) in enumerate(((keys, many[0]), (values, many[1]))):
        assert torch.equal(all_columns[1, :, :9], joined[0])
        for row in (0, 2):  # the others keep theirs
            assert torch.equal(all_columns[row, :, :2], few[side, row])
