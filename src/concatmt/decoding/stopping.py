"""Decides when the search of a window is done.

The rule is fairseq's: when `beam` hypotheses are finished, or when no other can be among those
wanted. With `stop: best` it is that of transformers: a full beam takes in better hypotheses
until none is in sight. With `stop: narrow` it is Marian's: every finished hypothesis takes a place
of the beam.
"""

from concatmt.decoding.beams import Row
from concatmt.decoding.config import SearchConfig

CERTAINTY = 1e-5  # margin by which a score must be out of reach, as log-probs are rounded


def is_decided(config: SearchConfig, row: Row, length: int, peak: float) -> bool:
    """Whether no better hypothesis can come: the beam is full, or the rest too far behind.

    `length` is that of the row's hypotheses so far, `peak` the best sum of log-probs of an
    unfinished one. Sums only fall, so an unfinished hypothesis has at best the score of that sum at
    one of the possible lengths. The same sum at a much greater length is possible, but not likely.
    """
    finished = row.finished
    if peak == -float("inf"):
        return True
    if config.stop == "best":
        return _is_best(config, row, length, peak)
    if len(finished) >= config.beam:
        return True
    if len(finished) < row.wanted:
        return False
    bar = sorted(hypothesis.score for hypothesis in finished)[-row.wanted]
    lengths = [length + 2]
    if config.stop != "likely":
        lengths.append(row.longest)
    best = max(peak / float(length) ** config.length_penalty for length in lengths)
    return bool(best < bar - CERTAINTY)


def _is_best(config: SearchConfig, row: Row, length: int, peak: float) -> bool:
    """Whether a full beam is better than all unfinished hypotheses, by transformers' rule.

    There the best unfinished sum is divided by its own length, without an `<end>`.
    """
    row.finished.sort(key=lambda hypothesis: -hypothesis.score)
    del row.finished[config.beam :]
    if len(row.finished) < config.beam:
        return False
    return bool(peak / float(length + 1) ** config.length_penalty <= row.finished[-1].score)
