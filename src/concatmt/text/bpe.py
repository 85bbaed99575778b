"""Byte-pair encoding with subword-nmt's conventions: `@@` joins pieces, code files are shared.

The `tokenizers` library does the merging; this module has the code files, the `@@` notation and
the splitting of pieces below a vocabulary threshold. Knows words, not sentences.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from concatmt.errors import UserError
from concatmt.files import check_regular, write_text

JOINER = "@@"
WORD_END = "</w>"
HEADER = "#version: 0.2"
UNKNOWN = "<unk>"

Merge = tuple[str, str]


def read_codes(path: Path) -> list[Merge]:
    """Read a code file of subword-nmt (version 0.2), the most important merge first."""
    check_regular(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 at byte {error.start}") from error
    if not lines[0].startswith("#version:"):
        raise UserError(
            f"{path}: not a BPE code file of version 0.2: the first line is not {HEADER!r}"
        )
    if lines[0].split() != HEADER.split():
        raise UserError(f"{path}: codes of {lines[0][1:]!r}; only 0.2 is read: learn them again")
    merges: dict[Merge, None] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip("\r "):
            continue
        left, _, right = line.strip("\r ").partition(" ")
        if not right or " " in right:
            raise UserError(f"{path}, line {number}: expected two symbols, found {line!r}")
        merges.setdefault((left, right))
    return list(merges)


def write_codes(path: Path, merges: Iterable[Merge]) -> None:
    """Write merges as a code file that subword-nmt reads too."""
    write_text(path, "".join(f"{line}\n" for line in (HEADER, *map(" ".join, merges))))


def learn_merges(word_counts: Mapping[str, int], count: int) -> list[Merge]:
    """Learn at most `count` merges from the words of a corpus and how often each occurs."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    words = sorted(word_counts)
    alphabet = {character for word in words for character in word}
    # The engine numbers new symbols in an order of its own choosing, and breaks ties by number:
    # naming all word-final characters beforehand makes the result the same every time.
    finals = sorted({word[-1] + WORD_END for word in words})
    engine = Tokenizer(models.BPE(unk_token=UNKNOWN, end_of_word_suffix=WORD_END))
    engine.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + len(finals) + count,
        min_frequency=2,
        limit_alphabet=len(alphabet),
        special_tokens=finals,
        end_of_word_suffix=WORD_END,
        show_progress=False,
    )
    engine.train_from_iterator((" ".join([word] * word_counts[word]) for word in words), trainer)
    merges = json.loads(engine.to_str())["model"]["merges"]
    return [(left, right) for left, right in merges][:count]


class Segmenter:
    """Splits words into pieces. Words already seen are remembered."""

    def __init__(self, merges: Iterable[Merge], vocabulary: Collection[str] | None = None) -> None:
        """With a `vocabulary`, pieces outside it are split again by undoing their last merge."""
        from tokenizers import models

        self.merges = list(merges)
        symbols = {symbol: None for merge in self.merges for symbol in (*merge, "".join(merge))}
        ids = {symbol: i for i, symbol in enumerate([UNKNOWN, *symbols])}
        self.engine = models.BPE(
            vocab=ids, merges=self.merges, unk_token=UNKNOWN, end_of_word_suffix=WORD_END
        )
        self.halves = {left + right: (left, right) for left, right in reversed(self.merges)}
        self.vocabulary = vocabulary
        self.known: dict[str, tuple[str, ...]] = {}

    def segment(self, word: str) -> tuple[str, ...]:
        """The pieces of `word`; all but the last end in `@@`."""
        pieces = self.known.get(word)
        if pieces is None:
            pieces = self.known[word] = self._segment(word)
        return pieces

    def _segment(self, word: str) -> tuple[str, ...]:
        pieces, start = [], 0
        for token in self.engine.tokenize(word):
            # A character that no merge knows comes out as <unk>: keep the character itself.
            size = 1 if token.value == UNKNOWN else len(token.value.removesuffix(WORD_END))
            end = start + size
            pieces.append(word[start:end] + (JOINER if end < len(word) else ""))
            start = end
        if self.vocabulary is None:
            return tuple(pieces)
        return tuple(part for piece in pieces for part in self._split(piece))

    def _split(self, piece: str) -> Iterator[str]:
        assert self.vocabulary is not None
        final = not piece.endswith(JOINER)
        symbol = piece + WORD_END if final else piece.removesuffix(JOINER)
        if piece in self.vocabulary or symbol not in self.halves:
            yield piece
            return
        left, right = self.halves[symbol]
        yield from self._split(left + JOINER)
        yield from self._split(right.removesuffix(WORD_END) if final else right + JOINER)


def join(pieces: Iterable[str]) -> str:
    """Undo the segmentation: `lo@@ w` becomes `low`."""
    text = " ".join(pieces)
    return text.replace(f"{JOINER} ", "").removesuffix(JOINER)
