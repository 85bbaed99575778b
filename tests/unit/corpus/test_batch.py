"""Laws of the batch layout; expected values are worked out by hand from docs/design.md."""

from hypothesis import given
from hypothesis import strategies as st

from concatmt.corpus.batch import WindowBatch, side_from_lists
from concatmt.text.vocabulary import END, PAD, SEPARATOR

SENTENCE = st.lists(st.integers(4, 50), max_size=6)
WINDOWS = st.lists(st.lists(SENTENCE, min_size=1, max_size=4), min_size=1, max_size=6)


def test_a_window_is_laid_out_with_separators_end_and_segments_from_the_right() -> None:
    side = side_from_lists([[[7, 8], [9], [5, 6]], [[4]]])
    assert side.tokens.tolist() == [
        [7, 8, SEPARATOR, 9, SEPARATOR, 5, 6, END],
        [4, END, PAD, PAD, PAD, PAD, PAD, PAD],
    ]
    assert side.segments.tolist() == [[3, 3, 3, 2, 2, 1, 1, 1], [1, 1, 0, 0, 0, 0, 0, 0]]
    assert side.lengths.tolist() == [8, 2]


def test_the_decoder_input_starts_with_end_in_segment_one() -> None:
    side = side_from_lists([[[7], [9]], [[4]]]).shifted_right()
    assert side.tokens.tolist() == [[END, 7, SEPARATOR, 9], [END, 4, PAD, PAD]]
    assert side.segments.tolist() == [[1, 2, 2, 1], [1, 1, 0, 0]]


@given(WINDOWS)
def test_a_row_does_not_depend_on_its_batch_mates(windows: list[list[list[int]]]) -> None:
    batch = WindowBatch.from_lists(windows, windows)
    for row, window in enumerate(windows):
        alone = side_from_lists([window])
        length = int(alone.lengths[0])
        assert batch.source.tokens[row, :length].tolist() == alone.tokens[0].tolist()
        assert batch.source.segments[row, :length].tolist() == alone.segments[0].tolist()
        assert not batch.source.mask[row, length:].any()


@given(WINDOWS)
def test_segments_count_from_the_right_and_a_separator_closes_its_sentence(
    windows: list[list[list[int]]],
) -> None:
    side = side_from_lists(windows)
    for row, window in enumerate(windows):
        n = len(window)
        expected = [n - i for i, sentence in enumerate(window) for _ in range(len(sentence) + 1)]
        assert side.segments[row][side.mask[row]].tolist() == expected
