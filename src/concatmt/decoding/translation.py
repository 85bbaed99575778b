"""The inputs and results of translating a document: passages, translations, a report.

Does not know models.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from concatmt.decoding.config import TranslateConfig
from concatmt.errors import UserError


@dataclass(frozen=True, slots=True)
class Alternative:
    """One translation of a sentence."""

    text: str
    score: float  # of the hypothesis: sum of log-probs / length ** penalty
    log_prob: float  # of the sentence and <end>, without the context
    sentences: list[list[int]]  # the translation of the whole window as tokens, this one last
    decode: Callable[[Sequence[int]], str] = field(repr=False, compare=False)  # tokens to text

    @property
    def tokens(self) -> list[int]:
        """The tokens of the sentence."""
        return self.sentences[-1]

    @property
    def window(self) -> list[str]:
        """The translation of the whole window, decoded on demand."""
        return [self.decode(sentence) for sentence in self.sentences]


@dataclass(frozen=True, slots=True)
class Translation:
    """A sentence and its translation."""

    source: str
    text: str
    score: float | None = None  # None where nothing was searched: empty, copied or edited
    log_prob: float | None = None
    tokens: list[int] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)  # the n best, this one first


@dataclass
class Report:
    """Counts to report to the user."""

    sentences: int = 0
    miscounts: int = 0  # windows with a wrong number of sentences, when unconstrained
    unknown: int = 0  # source tokens outside the vocabulary
    long: int = 0  # sentences longer than max_tokens
    trimmed: int = 0  # windows that lost context because they were too long
    copied: int = 0  # sentences whose translation came out empty
    terms: dict[str, list[int]] = field(default_factory=dict)  # of a glossary: found, honoured
    guessed: int = 0  # sentences of documents that were cut into pieces
    searches: int = 0  # windows searched for these

    def add(self, other: "Report") -> None:
        """Count `other` too."""
        for name in self.__dataclass_fields__:
            if name != "terms":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        for term, (found, honoured) in other.terms.items():
            self.count_term(term, found, honoured)

    def count_term(self, term: str, occurrences: int, honoured: int) -> None:
        """Count a glossary term's occurrences in sentences, and how many translations honour it."""
        before = self.terms.get(term, [0, 0])
        self.terms[term] = [before[0] + occurrences, before[1] + honoured]

    def messages(self, config: TranslateConfig) -> list[str]:
        """One line for each count that is not 0."""
        count, of = self.miscounts, max(1, self.sentences)
        lines = []
        if not config.search.constrained:
            lines.append(
                f"wrong number of sentences in {count:,} of {self.sentences:,} windows"
                f" ({100 * count / of:.2f}%); policy: {config.miscount}"
            )
        counts = (
            (self.unknown, "source tokens are unknown to the vocabulary"),
            (self.long, f"sentences of more than {config.max_tokens} tokens: {config.long}"),
            (self.trimmed, f"windows lost context to stay within {config.max_tokens} tokens"),
            (self.copied, "translations came out empty: the source was copied"),
        )
        lines += [f"{count:,} {text}" for count, text in counts if count]
        if self.terms:
            occurrences, honoured = (
                sum(column) for column in zip(*self.terms.values(), strict=True)
            )
            lines.append(f"glossary: {honoured:,} of {occurrences:,} terms honoured")
            for term, (of, kept) in sorted(self.terms.items()):
                lines.append(f"glossary: {term}: {kept} of {of}")
        return lines


@dataclass
class History:
    """The context: the sentences of a document before the current one."""

    source: list[list[int]] = field(default_factory=list)
    target: list[list[int]] = field(default_factory=list)

    def push(self, source: list[int], target: list[int], limit: int) -> None:
        """Add a sentence; the oldest leaves when there are more than `limit`."""
        self.source = [*self.source, source][-limit:] if limit else []
        self.target = [*self.target, target][-limit:] if limit else []


@dataclass
class Passage:
    """Consecutive sentences of a document, with the context before them."""

    source: Sequence[str]
    gold: Sequence[str] | None = None
    # Given translations, or None: kept as they are, and context of the others.
    given: Sequence[str | None] | None = None
    history: History = field(default_factory=History)  # moves on to the end of the passage

    def __post_init__(self) -> None:
        # A string is also a sequence of strings: its letters would be translated as sentences.
        if isinstance(self.source, str) or isinstance(self.gold, str):
            raise UserError("a document is a list of sentences, not one string: use [sentence]")
        if self.given is not None and len(self.given) != len(self.source):
            raise ValueError("as many given translations as sentences, None where there is none")

    def settled(self, place: int) -> str | None:
        """The given translation of a sentence, if any."""
        return None if self.given is None else self.given[place]
