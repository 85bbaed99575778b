"""A vocabulary: symbols and their ids, in a file that a person can read.

The first four ids are fixed, so that the rest of the toolkit needs no vocabulary to know padding,
separators and the end of a window. Does not know how text becomes symbols.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from concatmt.errors import UserError
from concatmt.files import write_text

PAD, UNK, SEPARATOR, END = range(4)
SPECIALS = ("<pad>", "<unk>", "</s>", "<end>")


class Vocabulary:
    """Ordered symbols; the id of a symbol is its place. The first four are `SPECIALS`."""

    def __init__(self, symbols: Sequence[str], counts: Sequence[int] | None = None) -> None:
        if tuple(symbols[:4]) != SPECIALS:
            raise ValueError(f"a vocabulary starts with {SPECIALS}, not {symbols[:4]}")
        self.symbols = list(symbols)
        self.counts = list(counts) if counts is not None else [0] * len(symbols)

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], threshold: int = 0) -> "Vocabulary":
        """Most frequent first, ties by code point; symbols rarer than `threshold` are left out."""
        kept = [(s, c) for s, c in counts.items() if c >= threshold and s not in SPECIALS]
        kept.sort(key=lambda item: (-item[1], item[0]))
        return cls([*SPECIALS, *(s for s, _ in kept)], [0] * 4 + [c for _, c in kept])

    @cached_property
    def ids(self) -> dict[str, int]:
        """Symbol -> id. The specials are left out: no text may turn into one of them."""
        return {symbol: i for i, symbol in enumerate(self.symbols) if i >= len(SPECIALS)}

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, symbols: Iterable[str]) -> list[int]:
        """Ids of `symbols`; unknown symbols become `UNK`."""
        ids = self.ids
        return [ids.get(symbol, UNK) for symbol in symbols]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Symbols of `ids`."""
        return [self.symbols[i] for i in ids]

    def save(self, path: Path) -> None:
        """Write one `symbol TAB count` per line, in the order of the ids."""
        rows = zip(self.symbols, self.counts, strict=True)
        write_text(path, "".join(f"{symbol}\t{count}\n" for symbol, count in rows))

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what `save` wrote."""
        symbols, counts = [], []
        try:
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not UTF-8 at byte {error.start}") from error
        for number, line in enumerate(lines, start=1):
            symbol, tab, count = line.rpartition("\t")
            if not tab or not count.isdecimal():
                raise UserError(f"{path}, line {number}: expected 'symbol TAB count', got {line!r}")
            symbols.append(symbol)
            counts.append(int(count))
        if tuple(symbols[:4]) != SPECIALS:
            raise UserError(f"{path}: not a vocabulary: its first symbols are not {SPECIALS}")
        if len(set(symbols)) != len(symbols):
            repeated = next(s for s in symbols if symbols.count(s) > 1)
            raise UserError(f"{path}: the symbol {repeated!r} occurs twice")
        return cls(symbols, counts)
