"""Reads fairseq dictionaries: the order of their symbols, and how it maps to ours.

fairseq numbers `<s> <pad> </s> <unk>` 0 to 3, then the lines of the file, then `<END>` if the model
is a `concat_transformer`. Ours begins with `<pad> <unk> </s> <end>`. Both orders hold the same
symbols, so permuting rows leaves every softmax unchanged.
"""

from dataclasses import dataclass
from pathlib import Path

from concatmt.errors import UserError
from concatmt.files import check_regular
from concatmt.text.vocabulary import SPECIALS, Vocabulary

BOS, PAD, EOS, UNK = range(4)
NAMES = ("<s>", "<pad>", "</s>", "<unk>")
WINDOW_END = "<END>"
MARKUP = ("<BEG>", "<BRK>", "<CNT>")  # appended after <END> under --add-doc-markup
OVERWRITE = "#fairseq:overwrite"


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Symbols in fairseq's order, with their counts."""

    path: Path
    symbols: list[str]
    counts: list[int]
    window_end: int | None = None  # the id of <END>; a sentence-level model has none

    @classmethod
    def load(cls, path: Path) -> "Dictionary":
        """Read a `dict.*.txt`: one `symbol count` per line, in the order of the ids."""
        symbols, counts = list(NAMES), [0] * len(NAMES)
        places = {symbol: place for place, symbol in enumerate(symbols)}
        check_regular(path)
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not UTF-8 at byte {error.start}") from error
        for number, line in enumerate(lines, start=1):
            if not line.strip() and number == len(lines):
                break
            where = f"{path}, line {number}"
            symbol, count, overwrite = _parse(where, line)
            if symbol in places:
                if not overwrite or (places[symbol] < len(NAMES) and symbol != NAMES[BOS]):
                    raise UserError(
                        f"{where}: {symbol!r} occurs twice; fairseq numbers symbols by their line,"
                        " so the file is not the one that the model was trained with"
                    )
                # No text reaches the older row any more, but the softmax still has it.
                symbols[places[symbol]] = f"{symbol}:overwritten"
            places[symbol] = len(symbols)
            symbols.append(symbol)
            counts.append(count)
        return cls(path, symbols, counts)

    def with_window_end(self, markup: bool) -> "Dictionary":
        """The dictionary as the authors' task extends it; existing symbols stay in place."""
        extra = [s for s in (WINDOW_END, *(MARKUP if markup else ())) if s not in self.symbols]
        symbols = self.symbols + extra
        counts = self.counts + [0] * len(extra)
        return Dictionary(self.path, symbols, counts, symbols.index(WINDOW_END))

    def order(self) -> list[int]:
        """fairseq's ids in the order of ours.

        A model of windows has `</s>` for the separator and `<END>` for the end; its `<s>` becomes
        an ordinary symbol. In a sentence-level model `</s>` ends the sentence and starts the
        decoder, as `<end>` does here; its `<s>` takes the separator's place, which no sentence has.
        """
        if self.window_end is None:
            first = [PAD, UNK, BOS, EOS]
        else:
            first = [PAD, UNK, EOS, self.window_end, BOS]
        taken = set(first)
        return first + [place for place in range(len(self.symbols)) if place not in taken]

    def vocabulary(self) -> Vocabulary:
        """The same symbols as a vocabulary of ours."""
        places = self.order()[len(SPECIALS) :]
        symbols = [self.symbols[place] for place in places]
        for symbol in symbols:
            if symbol in SPECIALS:
                raise UserError(
                    f"{self.path}: {symbol!r} is a word there, but a special symbol here"
                )
        counts = [self.counts[place] for place in places]
        return Vocabulary([*SPECIALS, *symbols], [0] * len(SPECIALS) + counts)


def _parse(where: str, line: str) -> tuple[str, int, bool]:
    symbol, _, count = line.rstrip().rpartition(" ")
    overwrite = count == OVERWRITE
    if overwrite:
        symbol, _, count = symbol.rpartition(" ")
    if not symbol or not count.lstrip("-").isdecimal():
        raise UserError(f"{where}: expected 'symbol count', got {line!r}")
    return symbol, max(0, int(count)), overwrite
