"""The `wit3` format: IWSLT's training files, as WIT3 publishes them."""

import re
from pathlib import Path
from typing import Literal

from concatmt.corpus.formats.registry import register
from concatmt.corpus.formats.sides import TwoSides
from concatmt.corpus.lines import ReadReport, read_lines
from concatmt.corpus.parts import NumberedSentences, Side

CLOSING_TAG = re.compile(r"</\w+>$")


@register
class Wit3Format(TwoSides):
    """IWSLT training files (`train.tags.en-de.en`): tagged lines around the lines of a talk.

    Title and description are sentences of the talk, as in the paper's data, unless `titles` is
    off. Any other tag is dropped and ends the talk before it.
    """

    format: Literal["wit3"]
    titles: bool = True

    def side(self, path: Path, report: ReadReport) -> Side:
        """The talks in one language."""
        talk: NumberedSentences = []
        name, count = "", 0
        for number, line in enumerate(read_lines(path, report), start=1):
            line = line.strip()
            tag = re.match(r"<(/?\w+)[^>]*>", line)
            # Not one regular expression: on a row of spaces its time would be cubic.
            text = "" if tag is None else CLOSING_TAG.sub("", line[tag.end() :]).strip()
            if tag is None:
                if line:
                    talk.append((number, line))
            elif tag[1] in ("title", "description"):
                if self.titles and text:
                    talk.append((number, text))
            else:
                if talk:
                    count += 1
                    yield name or str(count), talk
                    name, talk = "", []
                if tag[1] == "talkid":
                    name = text
        if talk:
            yield name or str(count + 1), talk
