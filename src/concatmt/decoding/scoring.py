"""Scores given translations of windows, all those of one source together.

What translations of a window have in common is computed once: the source by the encoder, and
every shared prefix by the decoder, as a tree of tokens in which each sees its
ancestors. Position t and segment k of a token follow from its path, so the scores are those of
teacher forcing. Does not know text or test sets.

Trees are concatenated into one row, so that no padding is computed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice

import numpy as np
import torch
from torch import Tensor

from concatmt.corpus.batch import side_from_lists
from concatmt.decoding.batches import plan
from concatmt.decoding.config import PoolConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Sentence
from concatmt.decoding.threads import in_threads
from concatmt.model.encodings import FIRST_POSITION
from concatmt.model.packing import Packing
from concatmt.text.vocabulary import END, SEPARATOR

LARGEST_TREE = 1024  # tokens; items of one source share a tree up to this size


@dataclass(frozen=True, slots=True)
class ScoringItem:
    """A source window and translations of it, each with as many sentences as the source."""

    source: Sequence[Sentence]
    targets: Sequence[Sequence[Sentence]]


@dataclass(frozen=True, slots=True)
class Sums:
    """The score of one translation, in both scopes."""

    window: float  # sum of log-probs over all sentences, separators and <end>
    window_tokens: int
    current: float  # over the last sentence and <end>
    current_tokens: int

    def value(self, score: str, scope: str) -> float:
        """`sum` or `mean` over `window` or `current`."""
        total = self.window if scope == "window" else self.current
        tokens = self.window_tokens if scope == "window" else self.current_tokens
        return total if score == "sum" else total / tokens


def sums_of(log_probs: Sequence[float], target: Sequence[Sentence]) -> Sums:
    """Add up what `score_items` returns for one translation."""
    current = len(target[-1]) + 1
    return Sums(sum(log_probs), len(log_probs), sum(log_probs[-current:]), current)


def score_items(
    engine: Engine, items: Sequence[ScoringItem], pool: PoolConfig, current_only: bool = False
) -> list[list[list[float]]]:
    """For each item and each of its translations, the log-prob of every token and of `<end>`.

    With `current_only`, only of the last sentence: the others are seen but not scored.
    """
    trees, groups = build_trees(items, current_only)
    scores: list[list[list[float]]] = [[] for _ in items]
    for group, of_tree in zip(groups, score_trees(engine, trees, pool), strict=True):
        paths = iter(of_tree)
        for i in group:
            scores[i] = list(islice(paths, len(items[i].targets)))
    return scores


def score_trees(
    engine: Engine, trees: Sequence["Tree"], pool: PoolConfig
) -> list[list[list[float]]]:
    """For each tree and each of its paths, the log-probs of the edges."""
    batches = plan([tree.cost for tree in trees], pool)
    scores: list[list[list[float]]] = [[] for _ in trees]

    def run(batch: list[int]) -> list[list[list[float]]]:
        return _score_batch(engine, [trees[i] for i in batch])

    for batch, of_batch in zip(batches, in_threads(run, batches, pool.threads), strict=True):
        for i, of_tree in zip(batch, of_batch, strict=True):
            scores[i] = of_tree
    return scores


def build_trees(
    items: Sequence[ScoringItem], current_only: bool = False
) -> tuple[list["Tree"], list[list[int]]]:
    """Build trees; returns them with the items in each.

    Items of one source go into one tree, unless it grows large: items of a test set with the same
    source share the encoder's pass, and prefixes too.
    """
    groups: list[list[int]] = []
    sizes: list[int] = []
    open_groups: dict[str, int] = {}
    for i, item in enumerate(items):
        key = repr(item.source)
        size = sum(len(sentence) + 1 for target in item.targets for sentence in target)
        group = open_groups.get(key)
        if group is None or sizes[group] + size > LARGEST_TREE:
            group = open_groups[key] = len(groups)
            groups.append([])
            sizes.append(0)
        groups[group].append(i)
        sizes[group] += size
    targets = [[target for i in group for target in items[i].targets] for group in groups]
    sources = [items[group[0]].source for group in groups]
    pairs = zip(sources, targets, strict=True)
    return [Tree(ScoringItem(*pair), current_only) for pair in pairs], groups


class Tree:
    """The decoder inputs of all translations of one source, each distinct prefix once.

    Node 0 is the decoder's start. An edge is a scored token: from the node
    that predicts it, to a node of its own unless it is `<end>`.
    """

    def __init__(self, item: ScoringItem, current_only: bool = False) -> None:
        self.source, self.current_only = item.source, current_only
        self.tokens = [END]  # or whatever the model starts with
        self.positions = [FIRST_POSITION]
        self.segments = [1]
        self.parents = [0]
        self.edges: dict[tuple[int, int], int] = {}  # (node, next token) -> number of the edge
        self.children: dict[int, int] = {}  # number of an edge -> node
        # Where a sentence leads from a node: candidates have most of their sentences in common.
        self.walks: dict[tuple[int, tuple[int, ...]], tuple[list[int], int]] = {}
        self.paths = [self._add(target) for target in item.targets]  # edges that are scored

    @property
    def cost(self) -> int:
        """Tokens of the larger side."""
        return max(len(self.tokens), sum(map(len, self.source)) + len(self.source))

    def _add(self, target: Sequence[Sentence]) -> list[int]:
        """Add a translation; returns the numbers of its scored edges."""
        if len(target) != len(self.source):
            raise ValueError("a translation has as many sentences as its source")
        node, path = 0, []
        for place, sentence in enumerate(target):
            k = len(target) - place
            key = (node, tuple(sentence))
            if key not in self.walks:
                self.walks[key] = self._walk(node, (*sentence, SEPARATOR if k > 1 else END), k)
            edges, node = self.walks[key]
            if k == 1 or not self.current_only:
                path += edges
        return path

    def _walk(self, node: int, tokens: Sequence[int], k: int) -> tuple[list[int], int]:
        """The edges of a sentence's tokens from `node` on, and the node where they end."""
        edges = []
        for token in tokens:
            edge = self.edges.setdefault((node, token), len(self.edges))
            edges.append(edge)
            if token != END:
                node = self._child(edge, node, token, k)
        return edges, node

    def _child(self, edge: int, node: int, token: int, k: int) -> int:
        child = self.children.get(edge)
        if child is None:
            child = self.children[edge] = len(self.tokens)
            self.tokens.append(token)
            self.positions.append(self.positions[node] + 1)
            self.segments.append(k)
            self.parents.append(node)
        return child

    def scored(self) -> list[tuple[int, int, int]]:
        """Node, token and number of each scored edge, ordered by node."""
        wanted = {edge for path in self.paths for edge in path}
        return sorted((*key, edge) for key, edge in self.edges.items() if edge in wanted)

    def mask(self) -> Tensor:
        """(nodes, nodes) float32: 0 where a node sees itself or an ancestor; else -inf."""
        visible = np.eye(len(self.tokens), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            visible[node] |= visible[parent]
        return torch.from_numpy(np.where(visible, np.float32(0), np.float32(-np.inf)))


@torch.inference_mode()
def _score_batch(engine: Engine, trees: Sequence[Tree]) -> list[list[list[float]]]:
    device = engine.device

    def row(values: Iterable[Sequence[int]]) -> Tensor:
        return torch.tensor([list(chain.from_iterable(values))], device=device)

    source = side_from_lists([tree.source for tree in trees])
    memory = engine.encode(source, torch.tensor([len(tree.source) for tree in trees]))
    sizes = [len(tree.tokens) for tree in trees]
    hidden = engine.decode(
        row((engine.config.architecture.start_token, *tree.tokens[1:]) for tree in trees),
        row(tree.positions for tree in trees),
        row(tree.segments for tree in trees),
        memory.for_targets(sizes),
        None,
        Packing(sizes, sizes, [tree.mask().to(memory.layers[0][0]) for tree in trees]),
    )[0]
    scored = [tree.scored() for tree in trees]
    pairs = zip(accumulate([0, *sizes[:-1]]), scored, strict=True)
    nodes = [start + node for start, of_tree in pairs for node, _, _ in of_tree]
    # On the host, since the number of distinct rows decides the shapes.
    rows, which = torch.unique_consecutive(torch.tensor(nodes), return_inverse=True)
    tokens = row([token for _, token, _ in of_tree] for of_tree in scored)[0]
    scores = iter(engine.log_probs(hidden[rows.to(device)], which, tokens).tolist())
    of_parts = []
    for tree, of_tree in zip(trees, scored, strict=True):
        values = {edge: next(scores) for _, _, edge in of_tree}
        of_parts.append([[values[edge] for edge in path] for path in tree.paths])
    return of_parts
