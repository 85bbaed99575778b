"""Reads Marian's vocabularies: YAML (`symbol: id`), text (one symbol a line), SentencePiece.

YAML is read line by line: full YAML parsers do not take `5` and `no` for text,
and stop at characters that vocabularies have.
"""

import re

from concatmt.errors import UserError
from concatmt.text.sentence_piece import load_sentence_piece

END, UNK = "</s>", "<unk>"
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def read_vocabulary(name: str, content: bytes, size: int) -> list[str]:
    """The symbols of a vocabulary in the order of their ids, `size` of them.

    A model may have more rows than its file has symbols: the rest never occur in text and get
    generated names.
    """
    if name.endswith(".spm"):
        symbols = _sentence_piece(name, content)
    else:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: not UTF-8 at byte {error.start}") from error
        symbols = _yaml(name, text) if name.endswith((".yml", ".yaml")) else _lines(name, text)
    if len(symbols) > size:
        raise UserError(
            f"{name}: {len(symbols):,} symbols, but the model has rows for {size:,} (dim-vocabs):"
            " not its vocabulary"
        )
    for needed in (END, UNK):
        if needed not in symbols:
            raise UserError(f"{name}: not a vocabulary of Marian: it has no {needed}")
    return symbols + [f"<row {i}>" for i in range(len(symbols), size)]


def _yaml(name: str, text: str) -> list[str]:
    ids: dict[int, str] = {}
    key: str | None = None  # of a long symbol, which has `? symbol` and `: id` on two lines
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line == "---":
            continue
        if line.startswith("? "):
            key = line[2:]
            continue
        if key is not None:
            symbol, id_ = key, line.removeprefix(":")
            key = None
        else:
            symbol, _, id_ = line.rpartition(":")
        if not symbol or not id_.strip().isdecimal():
            raise UserError(f"{name}, line {number}: expected 'symbol: id', got {line[:60]!r}")
        place = int(id_)
        if place in ids:
            raise UserError(f"{name}, line {number}: the id {place} occurs twice")
        ids[place] = _unquoted(symbol.strip(" "))
    if not ids or max(ids) != len(ids) - 1:
        gap = next((i for i in range(len(ids)) if i not in ids), 0)
        raise UserError(
            f"{name}: {len(ids):,} symbols, and none has the id {gap}: lines are missing"
        )
    return _checked(name, [ids[i] for i in range(len(ids))])


def _unquoted(symbol: str) -> str:
    if len(symbol) > 1 and symbol[0] == symbol[-1] == '"':
        return ESCAPE.sub(_character, symbol[1:-1])
    if len(symbol) > 1 and symbol[0] == symbol[-1] == "'":
        return symbol[1:-1].replace("''", "'")
    return symbol


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return ESCAPES.get(code, code)


def _lines(name: str, text: str) -> list[str]:
    lines = text.split("\n")
    symbols = lines[:-1] if lines[-1] == "" else lines
    return _checked(name, [symbol.rstrip("\r").partition("\t")[0] for symbol in symbols])


def _sentence_piece(name: str, content: bytes) -> list[str]:
    """The vocabulary of a SentencePiece model that Marian used directly, with its ids."""
    processor = load_sentence_piece(content, name)
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def _checked(name: str, symbols: list[str]) -> list[str]:
    seen: set[str] = set()
    for symbol in symbols:
        if symbol in seen:
            raise UserError(f"{name}: the symbol {symbol!r} occurs twice")
        seen.add(symbol)
    return symbols
