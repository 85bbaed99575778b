"""Settings of files with markup, each with its default and the sentence that explains it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from concatmt.settings import Settings

Apart = Literal["translate", "keep", "drop"]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
AtLeastZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SubtitleConfig(Settings):
    """How subtitles are read and written."""

    wrap: Literal["auto", "keep", "none"] = Field(
        default="auto",
        description="Lines of a subtitle: at most two, as many as there were, or one.",
    )
    width: int = Field(default=42, ge=10, le=500, description="Characters in a line of a subtitle.")
    lyrics: Apart = Field(
        default="translate", description="What to do with subtitles between musical notes."
    )
    sounds: Apart = Field(
        default="translate", description="What to do with sounds in square brackets."
    )
    names: Literal["keep", "translate"] = Field(
        default="keep", description="What to do with NAME: or [NAME] before what somebody says."
    )
    capitals: bool = Field(
        default=True, description="Give text in capitals to the model as it is, not lowered."
    )
    join_pause: AtLeastZero = Field(
        default=1.0, description="A sentence goes on after a shorter pause only, in seconds."
    )
    join_cues: int = Field(default=4, ge=1, description="Subtitles of one sentence, at most.")
    join_seconds: Positive = Field(default=7.0, description="Seconds of one sentence, at most.")
    join_characters: int = Field(
        default=200, ge=1, description="Characters of one sentence over several subtitles, at most."
    )
    scene_pause: Positive = Field(
        default=25.0, description="A longer silence ends the context, in seconds."
    )
    reading_speed: Positive = Field(
        default=20.0, description="Characters a second that can be read; more is reported."
    )
    shorten: AtLeastZero = Field(
        default=0.2,
        description="With --nbest: how much worse the score of a shorter translation may be that is"
        " taken for a subtitle that is too fast.",
    )


class FileConfig(Settings):
    """How files with markup are read and written."""

    source_language: str = Field(
        default="", description="Code of the source's language; by default the model's."
    )
    target_language: str = Field(
        default="", description="Code of the translation's language; by default the model's."
    )
    split: Literal["sentences", "lines", "auto"] = Field(
        default="auto",
        description="Plain text: split paragraphs into sentences, or take every line for one."
        " auto: sentences in Markdown; in a .txt what its lines look like, and a note says which.",
    )
    abbreviations: Path | None = Field(
        default=None, description="Words that do not end a sentence though a full stop follows."
    )
    encoding: str | None = Field(
        default=None, description="Encoding of files that are not UTF-8 and do not name theirs."
    )
    context_file: Path | None = Field(
        default=None,
        description="Text that comes before every file, a sentence a line: its end is context.",
    )
    context_translation: Path | None = Field(
        default=None,
        description="Translation of that text, line by line; by default the model's own.",
    )
    subtitles: SubtitleConfig = SubtitleConfig()
