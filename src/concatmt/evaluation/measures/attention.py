"""Measures attention: the share that stays in the current sentence, and the entropy.

Weights are recomputed from the inputs of the model's attention blocks in a teacher-forced
pass. Tokens of the current sentence are the queries; windows without context are
left out. Does not know where documents come from.

Shapes: B windows, H heads, Q queries, S keys.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.corpus.parts import Part
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.translation import History
from concatmt.errors import UserError
from concatmt.evaluation.charts import Line, line_plot
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.findings import Picture, Prose, Section, Table
from concatmt.evaluation.resampling import (
    Array,
    Estimate,
    Indices,
    cluster_numbers,
    percentiles,
    resampled_means,
)
from concatmt.evaluation.subjects import Deed, Member, Subject, seeing_context
from concatmt.evaluation.suite import Need, Suite
from concatmt.evaluation.texts import Text
from concatmt.files import read_json, write_json
from concatmt.model.attention_weights import KINDS, attention_weights
from concatmt.model.transformer import Transformer
from concatmt.signature import Signature

HEADER = ("attention", "layer", "share", "interval", "if uniform", "entropy", "if uniform")
WINDOWS = 32  # in one pass
TITLES = {"encoder": "encoder self", "decoder": "decoder self", "cross": "decoder to source"}
REMARK = (
    "Share of the current sentence's attention that stays in that sentence, in per cent, and"
    " the entropy in nats, beside the values of uniform attention."
)
TERMS = {
    "share": "share of the current sentence's attention that stays in that sentence",
    "entropy": "how widely attention is spread, in nats; 0 is all on one token",
    "if uniform": "the value if all visible tokens got the same attention",
}


class AttentionMeasure:
    """Attention on texts, with their references fed to the decoder."""

    name = "attention"
    need: Need = "texts"
    deed: Deed = "model"

    def section(self, subjects: Sequence[Subject], suite: Suite, config: EvaluateConfig) -> Section:
        """Shares and entropies of every layer."""
        section = Section(self.name, "Attention", [Prose(REMARK)], json=[], terms=TERMS)
        pairs, section.left_out = seeing_context(subjects, "attention")
        for text in suite.texts if pairs else ():
            uses, rows = [], []
            for subject, member in pairs:
                signature, layers = read_layers(_measured(member, text, config))
                uses.append((subject.name, layers))
                rows += [(member.label, *row) for row in attention_table(layers).rows]
                section.signatures.append(f"{member.label}, {text.name}: {signature}")
                section.json.append(
                    {
                        "run": member.label,
                        "text": text.name,
                        "signature": signature.to_json(),
                        "layers": [dataclasses.asdict(layer) for layer in layers],
                    }
                )
            section.blocks += [
                Prose(text.name, heading=True),
                Picture(_plots(uses, [subject.name for subject in subjects])),
                Table(("system", *HEADER), rows),
            ]
        if not section.json:
            section.blocks.clear()
        return section


def _measured(member: Member, text: Text, config: EvaluateConfig) -> Path:
    limit = config.attention_documents

    def make(path: Path) -> None:
        signature, layers = attention_of(member.loaded, text.parts(limit))
        write_layers(path, signature, layers)

    return member.kept(f"attention.{text.name}.json", (None, text.hash, limit), make)


def attention_of(
    model: LoadedModel, parts: Sequence[Part]
) -> tuple[Signature, list["AttentionUse"]]:
    """Every layer's figures on documents with their translations."""
    windows = windows_of(model, parts)
    signature = {
        **model.identity,
        "K": model.engine.config.system.sentences,
        "target_context": "gold",
        "windows": len(windows),
    }
    return Signature(signature), attention_use(model.engine.model, windows)


def write_layers(path: Path, signature: Signature, layers: Sequence["AttentionUse"]) -> None:
    """As JSON."""
    records = [dataclasses.asdict(layer) for layer in layers]
    write_json(path, {"signature": signature.to_json(), "layers": records})


def read_layers(path: Path) -> tuple[Signature, list["AttentionUse"]]:
    """What `write_layers` wrote."""
    content = read_json(path, "attention file")
    layers = []
    for record in content["layers"]:
        estimates = {key: Estimate(**record[key]) for key in ("share", "entropy")}
        layers.append(AttentionUse(**{**record, **estimates}))
    return Signature(content["signature"]), layers


def _plots(uses: Sequence[tuple[str, list["AttentionUse"]]], names: Sequence[str]) -> str:
    """Shares and entropies by layer; dashed lines are uniform attention."""
    shares, entropies = [], []
    for kind in KINDS:
        of_kind = [
            (name, [layer for layer in layers if layer.kind == kind]) for name, layers in uses
        ]
        _, first = of_kind[0]
        share = [Line(n, [(o.layer, 100 * o.share.value) for o in layers]) for n, layers in of_kind]
        share.append(Line("even", [(o.layer, 100 * o.uniform_share) for o in first], dashed=True))
        shares.append(line_plot(share, "layer", "% on current", TITLES[kind], names=names))
        spread = [Line(n, [(o.layer, o.entropy.value) for o in layers]) for n, layers in of_kind]
        spread.append(Line("even", [(o.layer, o.uniform_entropy) for o in first], dashed=True))
        entropies.append(line_plot(spread, "layer", "entropy (nats)", TITLES[kind], names=names))
    return "".join([*shares, *entropies])


class Window(NamedTuple):
    """A document's sentence with its context, as ids; the current sentence is the last."""

    document: str
    source: list[list[int]]
    target: list[list[int]]


@dataclass(frozen=True, slots=True)
class AttentionUse:
    """Where the tokens of current sentences attend in one layer, averaged over heads."""

    kind: str  # encoder or decoder (self-attention), or cross
    layer: int  # from 1
    share: Estimate  # of attention within the current sentence
    uniform_share: float  # if attention were uniform over all visible tokens
    entropy: Estimate  # in nats
    uniform_entropy: float  # the largest possible


def windows_of(model: LoadedModel, parts: Sequence[Part]) -> list[Window]:
    """All windows with context, of documents with their translations."""
    limit = model.engine.config.system.sentences - 1
    windows, history = [], History()
    for part in parts:
        if part.gold is None:
            raise UserError(f"document {part.document!r}: has no translations")
        if part.first == 0:
            history = History()
        for source, gold in zip(part.source, part.gold, strict=True):
            ids, target = model.text.source.encode(source), model.text.target.encode(gold)
            if not ids:
                continue  # an empty sentence never serves as context
            if history.source:
                sides = [*history.source, ids], [*history.target, target]
                windows.append(Window(part.document, *sides))
            history.push(ids, target, limit)
    return windows


def attention_use(model: Transformer, windows: Sequence[Window]) -> list[AttentionUse]:
    """Every layer's figures, with intervals over documents; each sentence counts the same."""
    if not windows:
        raise UserError("no sentence has context for the model to attend to")
    order = sorted(range(len(windows)), key=lambda i: sum(map(len, windows[i].source)))
    rows: dict[tuple[str, int], list[Tensor]] = {}
    for first in range(0, len(order), WINDOWS):
        batch = [windows[i] for i in order[first : first + WINDOWS]]
        for key, figures in _measure(model, batch).items():
            rows.setdefault(key, []).append(figures)
    clusters = cluster_numbers(windows[i].document for i in order)
    return [
        _summary(*key, torch.cat(parts).double().numpy(), clusters) for key, parts in rows.items()
    ]


def _summary(kind: str, layer: int, values: Array, clusters: Indices) -> AttentionUse:
    """Means of share, uniform share, entropy and its maximum, [windows, 4]."""
    number = int(clusters.max()) + 1
    means = values.mean(axis=0).tolist()
    low: list[float | None] = [None] * 4
    high: list[float | None] = [None] * 4
    if number > 1:
        ends = percentiles(resampled_means(values, clusters), number)
        low, high = ends[0].tolist(), ends[1].tolist()
    share, entropy = (Estimate(means[place], low[place], high[place]) for place in (0, 2))
    return AttentionUse(kind, layer, share, means[1], entropy, means[3])


@torch.inference_mode()
def _measure(model: Transformer, windows: Sequence[Window]) -> dict[tuple[str, int], Tensor]:
    """(B, 4) figures of every layer: means over the current sentence's tokens and all heads."""
    batch = WindowBatch.from_lists([w.source for w in windows], [w.target for w in windows])
    batch = batch.to(model.output.weight.device)
    shifted = batch.target.shifted_right()
    sides = {
        "encoder": (batch.source, batch.source),
        "decoder": (shifted, shifted),
        "cross": (shifted, batch.source),
    }
    figures: dict[tuple[str, int], Tensor] = {}
    for kind, layer, weights in attention_weights(model, batch):
        queries, keys = sides[kind]
        figures[kind, layer] = _figures(kind, weights, queries, keys)
    return figures


def _figures(kind: str, weights: Tensor, queries: Side, keys: Side) -> Tensor:
    """(B, H, Q, S) -> (B, 4)"""
    asking = _current(queries, shifted=kind != "encoder").double()
    looked_at = _current(keys, shifted=kind == "decoder").double()
    visible = keys.mask[:, None, :].expand(-1, queries.tokens.shape[1], -1)
    if kind == "decoder":
        visible = visible.tril()
    weights = weights.double()
    number = visible.sum(dim=2).clamp(min=1)
    share = torch.einsum("bhqs,bs->bq", weights, looked_at) / weights.shape[1]
    even = torch.einsum("bqs,bs->bq", visible.double(), looked_at) / number
    entropy = torch.special.entr(weights).sum(dim=3).mean(dim=1)
    values = torch.stack([share, even, entropy, number.double().log()], dim=2)
    # A current sentence without words has no query in the decoder: its figures are 0.
    return torch.einsum("bqf,bq->bf", values, asking) / asking.sum(dim=1, keepdim=True).clamp(min=1)


def _current(side: Side, shifted: bool) -> Tensor:
    """(B, T) bool: tokens of the current sentence; the decoder's first input belongs to none."""
    current = side.segments == 1
    if shifted:
        current[:, 0] = False
    return current


def attention_table(uses: Sequence[AttentionUse]) -> Table:
    """A table by layer; shares in per cent, entropies in nats."""
    rows = []
    for kind in KINDS:
        for use in uses:
            if use.kind == kind:
                low, high = use.share.low, use.share.high
                interval = "-"
                if low is not None and high is not None:
                    interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
                rows.append(
                    (
                        kind,
                        str(use.layer),
                        f"{100 * use.share.value:.1f}",
                        interval,
                        f"{100 * use.uniform_share:.1f}",
                        f"{use.entropy.value:.3f}",
                        f"{use.uniform_entropy:.3f}",
                    )
                )
    return Table(HEADER, rows)
