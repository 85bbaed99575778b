"""Shows how models were trained: learning curves and pictures of position encodings.

Not a measure to ask for by name: reports have this section wherever there are models.
"""

import itertools
from collections.abc import Sequence

import torch

from concatmt.corpus.batch import side_from_lists
from concatmt.evaluation.charts import Line, heat_map, line_plot
from concatmt.evaluation.findings import Block, Picture, Section
from concatmt.evaluation.models import ModelMember
from concatmt.evaluation.subjects import Subject, members_of
from concatmt.model.directory import load_model
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.transformer import Transformer

WORDS = (8, 5, 10, 7)  # of the sentences in the pictures of encodings
STRONGEST = 2.0  # a value with the full colour
CURVES = (
    "Negative log-likelihood (NLL) of the current sentences of the validation data, without label"
    " smoothing, one line per run."
)
ENCODINGS = (
    "What each system adds to its tokens by position, over a window of sentences (downwards, a"
    " row for each token; a column for each dimension); the vectors are those of the trained model."
)
TERMS = {
    "NLL": "negative log-likelihood: how surprised a model is by the right token, in nats; lower is"
    " better, and label smoothing is not in it",
    "nat": "unit of log-probability with the natural logarithm; 0.69 nats are a factor of 2",
    "context discount (CD)": "weight of context tokens in the loss, so that training attends to the"
    " current sentence",
}


def training_section(subjects: Sequence[Subject]) -> Section:
    """Curves of runs and pictures of encodings; empty for files."""
    models = [member for member in members_of(subjects) if isinstance(member, ModelMember)]
    section = Section("training", "Training", terms=TERMS if models else {})
    lines = [
        Line(subject.name, points)
        for subject in subjects
        for member in subject.members
        if isinstance(member, ModelMember) and (points := _points(member))
    ]
    if lines:
        updates, nats = "updates", "NLL, nats a token"
        log = all(value > 0 for line in lines for _, value in line.points)
        curves = line_plot(lines, updates, nats, "Learning curves", log)
        section.blocks += [Picture(curves, CURVES)]
    pictures = [
        Picture(encoding_plot(load_model(member.folder.model)), subject.name)
        for subject in subjects
        for member in subject.members[:1]
        if isinstance(member, ModelMember)
    ]
    if pictures:
        title: list[Block] = [Picture("<h3>Position encodings</h3>", ENCODINGS)]
        section.blocks += [*title, *pictures]
    return section


def _points(member: ModelMember) -> list[tuple[float, float]]:
    records = member.folder.metrics
    return [(r["update"], r["current_nll"]) for r in records if r.get("current_nll") is not None]


def encoding_plot(model: Transformer) -> str:
    """What a model adds to its tokens by position: to the input, and before later blocks."""
    size = model.config.system.sentences
    words = list(itertools.islice(itertools.cycle(WORDS), size))
    segments = side_from_lists([[[0] * count for count in words]]).segments
    t = torch.arange(segments.shape[1])[None] + FIRST_POSITION
    with torch.no_grad():
        signal = model.encoding(t, segments, torch.tensor([[size]]))
    panels = {
        "added to the input": signal.input,
        "added before every later block": signal.block,
    }
    shape = (*segments.shape, model.config.architecture.dim)
    return "".join(
        heat_map(vectors.expand(shape)[0].double().tolist(), STRONGEST, title)
        for title, vectors in panels.items()
        if vectors is not None
    )
