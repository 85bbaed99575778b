"""Shows translations of a text side by side and marks the words that differ."""

import difflib
from collections.abc import Callable, Sequence

Mark = Callable[[str], str]


def starred(word: str) -> str:
    """Mark a word for Markdown and plain text."""
    return f"**{word}**"


def bold(word: str) -> str:
    """Mark a word for a terminal."""
    return f"\033[1m{word}\033[0m"


def marked(first: str, second: str, mark: Mark = starred) -> tuple[str, str]:
    """Both sentences, with the words marked that the other lacks at that place."""
    ours, theirs = first.split(), second.split()
    blocks = difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False).get_matching_blocks()
    same_ours = {block.a + i for block in blocks for i in range(block.size)}
    same_theirs = {block.b + i for block in blocks for i in range(block.size)}
    return _join(ours, same_ours, mark), _join(theirs, same_theirs, mark)


def _join(words: Sequence[str], same: set[int], mark: Mark) -> str:
    return " ".join(word if i in same else mark(word) for i, word in enumerate(words))


def side_by_side(
    sources: Sequence[str],
    systems: Sequence[tuple[str, Sequence[str]]],
    mark: Mark = starred,
    differing_only: bool = False,
) -> str:
    """Each source sentence with its translations; words that differ from the first are marked."""
    width = max(len(name) for name, _ in systems)
    blocks = []
    for place, source in enumerate(sources):
        if not source.strip():
            continue
        first = systems[0][1][place]
        texts = [first]
        for _, translations in systems[1:]:
            texts[0], other = marked(first, translations[place], mark)
            texts.append(other)
        if len(systems) > 2:
            texts[0] = first  # its marks would differ from translation to translation
        if differing_only and all(t[place] == first for _, t in systems):
            continue
        lines = [f"{name:{width}}  {text}" for (name, _), text in zip(systems, texts, strict=True)]
        blocks.append("\n".join([source, *(f"  {line}" for line in lines)]))
    return "\n\n".join(blocks)
