"""Answers questions by comparing groups of systems over all seeds.

A group's figure is the mean over its systems, seed by seed; its interval takes in documents and
seeds. A second interval treats all runs as independent and pools their variance within a
system: it is based on more runs but ignores documents. Everything is computed from the
files of `results`. Does not run or print anything.
"""

import math
import statistics
import warnings
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from scipy import stats

from concatmt.evaluation.accuracy import Difference, Figure, figures
from concatmt.evaluation.outcomes import CONTROLS, OutcomeFile, System
from concatmt.evaluation.resampling import LEVEL, Estimate
from concatmt.evaluation.significance import holm
from concatmt.paper.comparison import chosen_runs
from concatmt.paper.results import Results, RunRecord

# What the tasks of the testbed need (docs/testbed.md).
WHICH_WORDS = ("pron", "vp", "names")
WHICH_SENTENCE = ("recent", "ordinal", "tv", "spk", "case")


@dataclass(frozen=True, slots=True)
class Question:
    """Pairs of systems, (without, with), that differ in what the question asks."""

    text: str
    pairs: tuple[tuple[str, str], ...]


def _with(part: str, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, f"{name}+{part}") for name in names)


def _discounted(names: Sequence[str]) -> list[str]:
    return [f"s4to4+cd+{name}" for name in names]


SEGMENTS = ("1hot", "sin", "lrn")
QUESTIONS = (
    Question("Does context help?", (("base", "s4to4"),)),
    Question("Does CD help?", (("s4to4", "s4to4+cd"),)),
    Question(
        "Does CD help beside an encoding?",
        tuple((f"s4to4+{name}", f"s4to4+cd+{name}") for name in ("shift", *SEGMENTS)),
    ),
    Question(
        "Does persistence help segment embeddings?",
        _with("pers", [*(f"s4to4+{name}" for name in SEGMENTS), *_discounted(SEGMENTS)]),
    ),
    Question("Does persistence help shift?", _with("pers", ["s4to4+shift", "s4to4+cd+shift"])),
    Question(
        "Do persistent positions help without segments?", _with("pers", ["s4to4", "s4to4+cd"])
    ),
    Question(
        "Does PSE separate what adding confuses?",
        _with("pse", [f"s4to4+{name}" for name in SEGMENTS]),
    ),
    Question(
        "Does persistent PSE beat persistent adding?",
        _with("pse", [f"s4to4+{name}+pers" for name in SEGMENTS])
        + _with("pse", [f"s4to4+cd+{name}+pers" for name in SEGMENTS]),
    ),
    Question(
        "Does learned PSE lose to learned adding, as in the paper?",
        (
            ("s4to4+lrn", "s4to4+lrn+pse"),
            ("s4to4+lrn+pers", "s4to4+lrn+pers+pse"),
            ("s4to4+cd+lrn+pers", "s4to4+cd+lrn+pers+pse"),
        ),
    ),
    Question(
        "Do more dimensions for the segment harm learned PSE?",
        (("s4to4+cd+lrn+pers+pse", "s4to4+cd+lrn+pers+pse16"),),
    ),
    Question("Does shift+pers lose?", (("s4to4+cd", "s4to4+cd+shift+pers"),)),
    *(
        Question(f"Does {name} help to tell which sentence?", (("s4to4+cd", f"s4to4+cd+{name}"),))
        for name in (
            *("shift", "1hot", "sin", "lrn", "pers", "shift+pers", "1hot+pers", "sin+pers"),
            *("lrn+pers", "1hot+pers+pse", "sin+pers+pse", "lrn+pers+pse"),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the systems with it gain over those without, in the unit of each figure."""

    question: Question
    pairs: int
    seeds: int
    accuracy: Difference  # on all tasks that need context
    pooled: Estimate  # the same, of all runs of the systems, whichever their seed
    words: Difference | None  # on the testbed's tasks that need words
    sentence: Difference | None  # on those that need to know in which sentence words are
    curve: Estimate  # mean accuracy over the stages of the learning curve
    loss: Estimate  # validation loss of the current sentence
    bleu: Estimate


def answers(results: Results, questions: Sequence[Question] = QUESTIONS) -> list[Answer]:
    """Answers to the questions that have runs, with Holm's correction over all of them."""
    runs = chosen_runs(results.runs())
    answers = [_answer(question, runs, results) for question in questions]
    answered = [answer for answer in answers if answer is not None]
    for part in ("accuracy", "words", "sentence"):
        everything: list[Difference | None] = [getattr(answer, part) for answer in answered]
        differences = [difference for difference in everything if difference is not None]
        adjusted = holm([difference.p_value for difference in differences])
        for difference, p_value in zip(differences, adjusted, strict=True):
            difference.adjusted = p_value
    return answered


def _answer(
    question: Question, runs: dict[str, list[RunRecord]], results: Results
) -> Answer | None:
    pairs = [pair for pair in question.pairs if pair[0] in runs and pair[1] in runs]
    if not pairs:
        return None
    phenomena = {task for run in runs[pairs[0][0]] for task in run.stages[-1].accuracy}
    names = {name for pair in pairs for name in pair}
    seeds = sorted(set.intersection(*({run.seed for run in runs[name]} for name in names)))
    if not seeds:
        return None
    groups = [_group([pair[side] for pair in pairs], seeds, runs) for side in (0, 1)]
    files = [[_mean_outcomes(row, results) for row in group] for group in groups]
    means = [[_means(row) for row in group] for group in groups]
    return Answer(
        question,
        len(pairs),
        len(seeds),
        accuracy=_difference(files, phenomena.difference(CONTROLS)),
        pooled=pooled_difference(
            pairs, {name: [_accuracy(run, results) for run in runs[name]] for name in names}
        ),
        words=_on(files, phenomena.intersection(WHICH_WORDS)),
        sentence=_on(files, phenomena.intersection(WHICH_SENTENCE)),
        curve=_welch([[mean.curve for mean in group] for group in means]),
        loss=_welch([[mean.loss for mean in group] for group in means]),
        bleu=_welch([[mean.bleu for mean in group] for group in means]),
    )


def _group(
    names: Sequence[str], seeds: Sequence[int], runs: dict[str, list[RunRecord]]
) -> list[list[RunRecord]]:
    """The runs of systems, seed by seed."""
    by_seed = {name: {run.seed: run for run in runs[name]} for name in names}
    return [[by_seed[name][seed] for name in names] for seed in seeds]


def _mean_outcomes(records: Sequence[RunRecord], results: Results) -> OutcomeFile:
    """One run's worth of outcomes: on every item, the mean over several systems."""
    files = [results.outcomes(record) for record in records]
    outcomes = tuple(
        replace(items[0], right=statistics.fmean(item.right for item in items))
        for items in zip(*(file.outcomes for file in files), strict=True)
    )
    return replace(files[0], outcomes=outcomes)


def _on(groups: Sequence[Sequence[OutcomeFile]], tasks: Set[str]) -> Difference | None:
    return _difference(groups, tasks) if tasks else None


def _difference(groups: Sequence[Sequence[OutcomeFile]], tasks: Set[str]) -> Difference:
    systems = []
    for name, files in zip(("without", "with"), groups, strict=True):
        kept = [
            [outcome for outcome in file.outcomes if outcome.phenomenon in tasks] for file in files
        ]
        of_tasks = zip(files, kept, strict=True)
        systems.append(
            System(
                name, tuple(replace(file, outcomes=tuple(outcomes)) for file, outcomes in of_tasks)
            )
        )
    everything: Figure = figures(systems, kinds=("all",))[0]
    difference = everything.differences[1]
    assert difference is not None
    return difference


def _accuracy(record: RunRecord, results: Results) -> float:
    """Accuracy of one run on the tasks that need context."""
    items = results.outcomes(record).outcomes
    return statistics.fmean(
        outcome.right for outcome in items if outcome.phenomenon not in CONTROLS
    )


def pooled_difference(
    pairs: Sequence[tuple[str, str]], accuracies: Mapping[str, list[float]]
) -> Estimate:
    """The mean over pairs of what `with` has over `without`: a contrast of a one-way ANOVA."""
    share = dict.fromkeys(accuracies, 0.0)  # of each system's mean in the difference
    for without, with_it in pairs:
        share[without] -= 1 / len(pairs)
        share[with_it] += 1 / len(pairs)
    means = {name: statistics.fmean(values) for name, values in accuracies.items()}
    value = sum(share[name] * mean for name, mean in means.items())
    freedom = sum(len(values) - 1 for values in accuracies.values())
    if not freedom:
        return Estimate(value, None, None)
    squares = sum((x - means[name]) ** 2 for name, values in accuracies.items() for x in values)
    precision = sum(share[name] ** 2 / len(values) for name, values in accuracies.items())
    reach = stats.t.ppf((1 + LEVEL) / 2, freedom) * math.sqrt(squares / freedom * precision)
    return Estimate(value, value - reach, value + reach)


def curve_mean(record: RunRecord) -> float:
    """Accuracy on the tasks that need context, as a mean over the stages of training.

    Stages are chosen at equal ratios, so this is the area under the curve over log-updates.
    """
    return statistics.fmean(
        share
        for stage in record.stages
        for task, share in stage.accuracy.items()
        if task not in CONTROLS
    )


@dataclass(frozen=True, slots=True)
class _Means:
    curve: float
    loss: float
    bleu: float


def _means(records: Sequence[RunRecord]) -> _Means:
    """Of runs with the same seed."""
    return _Means(
        statistics.fmean(map(curve_mean, records)),
        statistics.fmean(record.stages[-1].valid_current for record in records),
        statistics.fmean(record.bleu for record in records),
    )


def _welch(groups: Sequence[Sequence[float]]) -> Estimate:
    """The second group's mean over the first's, with Welch's interval over seeds."""
    before, after = groups
    value = statistics.fmean(after) - statistics.fmean(before)
    if len(before) < 2:
        return Estimate(value, None, None)
    with warnings.catch_warnings():  # scipy's, where all seeds of a group are equal
        warnings.simplefilter("ignore", RuntimeWarning)
        interval = stats.ttest_ind(after, before, equal_var=False).confidence_interval(LEVEL)
    if not math.isfinite(interval.low):
        return Estimate(value, value, value)
    return Estimate(value, float(interval.low), float(interval.high))
