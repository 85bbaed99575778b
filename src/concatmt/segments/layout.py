"""How a translation is laid out: over the cues of its sentence, and over the lines of a cue.

Both ask where a text is best cut: near a wanted place, after punctuation, not after a word that
belongs to the next one. Knows no file format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from concatmt.segments.segment import Alignment
from concatmt.segments.words import count_words

# Words after which no good subtitle breaks: articles, prepositions, auxiliaries, short pronouns.
_LEANING = {
    "en": "a an the of to in on at by for from with and or but my your his her its our their is "
    "are was were be been am have has had do does did will would can could not i you he "
    "she it we they",
    "fr": "parce le la les l un une des du de d à au aux en dans sur sous par pour avec sans et ou "
    "mais mon ma mes ton ta tes son sa ses notre votre leur ne pas je tu il elle on nous "
    "vous ils elles est sont a ai as ont qui que ce cet cette ces se me te si très plus quel "
    "quelle chaque comme jusqu'à",
    "de": "der die das den dem des ein eine einen einem einer eines in im an am auf aus bei mit "
    "nach von vom zu zum zur und oder aber mein dein sein ihr unser euer ist sind war hat "
    "habe nicht ich du er sie es wir",
    "es": "el la los las un una unos unas de del a al en con por para sin y o pero mi tu su es "
    "son no",
    "it": "il lo la i gli le un uno una di del della a al alla in nel nella con per e o ma è non",
    "ru": "в во на с со к ко по из за от до у о об и а но не для при без под над про или что я "
    "ты он она мы вы они",
    "pt": "o a os as um uma de do da em no na com por para e ou mas é são não",
    "nl": "de het een van in op aan met voor naar bij uit en of maar is zijn niet ik je hij zij "
    "wij",
}
_ENDING = re.compile(r"[.!?…:;。！？][\"'»”’)\]]*$")
_PAUSE = re.compile(r"[,،、–—-][\"'»”’)\]]*$")


@lru_cache
def _leaning(language: str) -> frozenset[str]:
    words = _LEANING.get(language)
    return frozenset((words if words is not None else " ".join(_LEANING.values())).split())


def _unfit(word: str, language: str) -> float:
    """How bad it is to cut after `word`, in characters that a better place may be away."""
    if _ENDING.search(word):
        return -8.0
    if _PAUSE.search(word):
        return -5.0
    bare = word.strip("\"'«»“”‘’([¿¡").lower()
    return 8.0 if bare in _leaning(language) else 0.0


CROSSING = 4.0  # characters that a cut may be farther away to tear one link of words less


def cut(
    words: Sequence[str],
    shares: Sequence[float],
    language: str,
    crossings: Sequence[Sequence[int]] | None = None,
) -> list[list[str]]:
    """`words` in as many parts as there are shares, each near its share of the characters.

    Every part has a word; with fewer words than parts all of them go to the largest share.
    `crossings`: for each cut and word, how many links of the word alignment a cut after it tears.
    """
    parts = len(shares)
    if parts == 1:
        return [list(words)]
    if len(words) < parts:
        largest = max(range(parts), key=lambda part: shares[part])
        return [list(words) if part == largest else [] for part in range(parts)]
    ends = []  # characters up to and with each word
    length = 0
    for word in words:
        length += len(word) + 1
        ends.append(length)
    total, sum_of_shares, wanted, passed = length, sum(shares) or 1.0, [], 0.0
    for share in shares[:-1]:
        passed += share
        wanted.append(total * passed / sum_of_shares)
    # best[c][i]: least cost of c+1 cuts with the last one after word i
    costs = [
        [abs(ends[i] - place) + _unfit(words[i], language) for i in range(len(words))]
        for place in wanted
    ]
    for row, torn in zip(costs, crossings or (), strict=crossings is not None):
        row[:] = [cost + CROSSING * count for cost, count in zip(row, torn, strict=True)]
    best = [costs[0]]
    came: list[list[int]] = []
    for row in costs[1:]:
        before, choice, values = best[-1], [], []
        lowest, lowest_at = float("inf"), -1
        for i in range(len(words)):
            values.append(lowest + row[i] if lowest_at >= 0 else float("inf"))
            choice.append(lowest_at)
            if before[i] < lowest:
                lowest, lowest_at = before[i], i
        came.append(choice)
        best.append(values)
    # Each cut leaves words for the cuts and the part after it.
    last = min(range(parts - 2, len(words) - 1), key=lambda i: best[-1][i])
    cuts = [last]
    for choice in reversed(came):
        cuts.append(choice[cuts[-1]])
    edges = [0, *[place + 1 for place in reversed(cuts)], len(words)]
    return [list(words[a:b]) for a, b in pairwise(edges)]


def crossings(alignment: Alignment, cuts: Sequence[int], words: Sequence[str]) -> list[list[int]]:
    """For each cut (after so many source words) and word: how many links a cut there tears.

    `words` stand between spaces; links count the words of `word_spans`.
    """
    ends = list(accumulate(count_words(word) for word in words))
    return [
        [sum((source < place) != (target < end) for source, target in alignment) for end in ends]
        for place in cuts
    ]


def line_breaks(text: str, language: str, width: int, lines: int) -> list[int]:
    """Offsets of the spaces in `text` that become line breaks: none if it fits in one line.

    At most `lines` lines, even if some are then longer than `width`; the lower one rather longer.
    """
    if len(text) <= width or lines < 2 or " " not in text.strip():
        return []
    spaces = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text)]
    if not spaces:
        return []
    count = min(lines, len(spaces) + 1)
    if count == 2:

        def cost(space: int) -> float:
            upper, lower = space, len(text) - space - 1
            over = max(0, upper - width) + max(0, lower - width)
            uneven = abs(upper - lower) * 0.5 + (2.0 if upper > lower else 0.0)
            return over * 100 + uneven + _unfit(text[:space].rsplit(" ", 1)[-1], language)

        return [min(spaces, key=cost)]
    words = text.split(" ")
    parts = cut(words, [1.0] * count, language)
    breaks, at = [], -1
    for part in parts[:-1]:
        at += sum(len(word) + 1 for word in part)
        breaks.append(at)
    return [place for place in breaks if 0 < place < len(text)]
