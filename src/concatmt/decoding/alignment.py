"""Aligns the words of a sentence with those of its translation, by the decoder's attention.

Finished translations go through the model once more, teacher-forced and without context, so a
search costs no more. Some head of a translation model looks at the word that is being
translated (OPUS-MT's were trained to: the first one of the last layer); it is chosen without given
alignments, as the head whose links agree most often in both directions. Measured in
results/tag-placement.md.

Shapes: L layers, H heads (the last one is their mean), J target words, I source words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from concatmt.corpus.batch import WindowBatch
from concatmt.decoding.engine import Engine
from concatmt.model.attention_weights import attention_weights
from concatmt.segments.segment import Alignment
from concatmt.segments.words import word_spans
from concatmt.text.codec import Codec
from concatmt.text.pipeline import TextPipeline

AT_A_TIME = 32  # sentences in a pass
TO_CHOOSE = 64  # sentences to choose a head by
LONGEST = 512  # tokens on a side; time grows with the square, and longer texts are no sentences
FEWEST_WORDS = 40  # target words; with fewer, the choice would be chance


class Head(NamedTuple):
    """Where links are read; `late`: at the step after the word's prediction."""

    layer: int  # from 1
    head: int  # from 0; the number of heads means their average
    late: bool


@dataclass(frozen=True)
class _Pair:
    """A sentence and its translation as ids, and how tokens form words."""

    source: list[int]
    target: list[int]
    of_source: Tensor  # (tokens, I) 1 where a token is part of a word
    of_target: Tensor  # (J, tokens) what share of a word a token is
    marks: Alignment  # links between punctuation marks, which need no attention
    words: Tensor  # (J, I) bool, true where both are words


class WordAligner:
    """Links between the words of sentences and of their translations."""

    def __init__(self, engine: Engine, text: TextPipeline, head: Head | None = None) -> None:
        """`head`: where to read; by default the one that agrees best on the first sentences."""
        self.engine, self.text, self.head = engine, text, head

    @torch.inference_mode()
    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Alignment]:
        """The aligned words of each (sentence, translation), by their index in `word_spans`.

        Pairs that are too long get no links.
        """
        made = {
            number: pair
            for number, texts in enumerate(pairs)
            if all(texts) and (pair := self._pair(*texts)) is not None
        }
        head = self.head or self._chosen(list(made.values())[:TO_CHOOSE])
        alignments: list[Alignment] = [()] * len(pairs)
        order = sorted(made, key=lambda number: (len(made[number].source), number))
        for first in range(0, len(order), AT_A_TIME):
            numbers = order[first : first + AT_A_TIME]
            batch = [made[number] for number in numbers]
            for _, weights in self._weights(batch, head.layer):
                for number, pair, of_heads in zip(numbers, batch, weights, strict=True):
                    links = _links(_by_words(of_heads, pair, head.late)[head.head])
                    alignments[number] = tuple(sorted({*links, *pair.marks}))
        return alignments

    def _pair(self, source: str, target: str) -> _Pair | None:
        ids = self.text.source.encode(source), self.text.target.encode(target)
        if not all(0 < len(of_side) <= LONGEST for of_side in ids):
            return None
        words = word_spans(source), word_spans(target)
        of_source = _parts(source, words[0], ids[0], self.text.source)
        of_target = _parts(target, words[1], ids[1], self.text.target).T
        is_word = [
            torch.tensor([text[start].isalnum() for start, _ in spans], dtype=torch.bool)
            for text, spans in zip((source, target), words, strict=True)
        ]
        return _Pair(
            *ids,
            (of_source > 0).float(),
            of_target / of_target.sum(1, keepdim=True).clamp(min=1),
            _same_marks(source, target),
            is_word[1][:, None] & is_word[0][None],
        )

    def _weights(
        self, batch: Sequence[_Pair], layer: int | None = None
    ) -> Iterator[tuple[int, Tensor]]:
        """Layer and cross-attention (B, H, target tokens + 1, source tokens + 1)."""
        windows = WindowBatch.from_lists(
            [[pair.source] for pair in batch], [[pair.target] for pair in batch]
        )
        model = self.engine.model
        attended = attention_weights(model, windows.to(self.engine.device), ("cross",), layer)
        for _, number, weights in attended:
            yield number, weights.cpu()

    def _chosen(self, pairs: Sequence[_Pair]) -> Head:
        """The head whose best links are most often best from both sides."""
        stack = self.engine.config.architecture.decoder
        if sum(int(pair.words.any(1).sum()) for pair in pairs) < FEWEST_WORDS:
            return Head(-(-stack.layers // 3), stack.heads, late=True)
        agreed: Counter[Head] = Counter()
        for first in range(0, len(pairs), AT_A_TIME):
            batch = pairs[first : first + AT_A_TIME]
            for layer, weights in self._weights(batch):
                for late in (False, True):
                    for pair, of_heads in zip(batch, weights, strict=True):
                        counts = _agreements(_by_words(of_heads, pair, late))
                        for head, count in enumerate(counts):
                            agreed[Head(layer, head, late)] += count
        self.head = max(sorted(agreed), key=lambda head: agreed[head])
        return self.head


def _by_words(of_heads: Tensor, pair: _Pair, late: bool) -> Tensor:
    """(H, Q, S) weights of tokens -> (H + 1, J, I) of words, the last one of all heads together."""
    rows = slice(int(late), int(late) + len(pair.target))
    weights = of_heads[:, rows, : len(pair.source)]
    weights = torch.cat([weights, weights.mean(0, keepdim=True)])
    # A word of several tokens gets the mean of its tokens' weights, so that long words do not win.
    share = pair.of_source / pair.of_source.sum(0, keepdim=True).clamp(min=1)
    return (pair.of_target @ weights @ share) * pair.words


def _agreements(weights: Tensor) -> list[int]:
    """(H, J, I) -> how many links of each head are the best ones of both their words."""
    if not weights.numel():
        return [0] * len(weights)
    rows = weights == weights.amax(2, keepdim=True)
    columns = weights == weights.amax(1, keepdim=True)
    counts: list[int] = (rows & columns & (weights > 0)).sum((1, 2)).tolist()
    return counts


def _links(weights: Tensor) -> Iterator[tuple[int, int]]:
    """(J, I) -> each target word with its best source word, then unlinked source words."""
    if not weights.numel():
        return
    left = set(weights.any(0).nonzero()[:, 0].tolist())
    best = weights.argmax(1).tolist()
    for target, linked in enumerate(weights.any(1).tolist()):
        if linked:
            left.discard(best[target])
            yield best[target], target
    for source in sorted(left):
        yield source, int(weights[:, source].argmax())


def _parts(text: str, words: Sequence[tuple[int, int]], ids: Sequence[int], codec: Codec) -> Tensor:
    """(tokens, words): how many characters of each word a token spells.

    Counts visible characters, since a codec may decode to other characters than it encoded.
    """
    visible = [number for number, character in enumerate(text) if not character.isspace()]
    ends = [len("".join(codec.decode(ids[: end + 1]).split())) for end in range(len(ids))]
    scale = len(visible) / max(1, ends[-1] if ends else 0)
    owner = {place: word for word, span in enumerate(words) for place in range(*span)}
    parts = torch.zeros(len(ids), len(words))
    at = 0
    for token, end in enumerate(ends):
        until = max(at, min(round(end * scale), len(visible)))
        for place in visible[at:until]:
            if place in owner:
                parts[token, owner[place]] += 1
        at = until
    return parts


def _same_marks(source: str, target: str) -> Alignment:
    """Links between punctuation marks that occur equally often on both sides, in order."""
    places: list[dict[str, list[int]]] = [{}, {}]
    for text, found in zip((source, target), places, strict=True):
        for number, (start, _) in enumerate(word_spans(text)):
            if not text[start].isalnum():
                found.setdefault(text[start], []).append(number)
    ours, theirs = places
    return tuple(
        pair
        for mark, numbers in ours.items()
        if len(numbers) == len(theirs.get(mark, ()))
        for pair in zip(numbers, theirs[mark], strict=True)
    )
