"""The configuration tree: the settings of every component under its own key."""

from concatmt.corpus.prepare import CorpusConfig
from concatmt.errors import UserError
from concatmt.model.config import Architecture
from concatmt.settings import Settings
from concatmt.text.pipeline import Languages, TextConfig, TextSettings
from concatmt.text.sentence_piece import SentencePieceConfig
from concatmt.training.config import TrainingConfig


class Config(Settings):
    """All settings of a run; each command uses its part."""

    languages: Languages | None = None
    text: TextConfig = SentencePieceConfig()
    corpus: CorpusConfig | None = None
    model: Architecture = Architecture()
    training: TrainingConfig = TrainingConfig()

    def to_prepare(self) -> tuple[CorpusConfig, TextSettings]:
        """What `prepare` needs, which a configuration for training alone may leave out."""
        if self.corpus is None or self.languages is None:
            missing = "corpus" if self.corpus is None else "languages"
            raise UserError(f"{missing}: missing, must be given to prepare a corpus")
        return self.corpus, TextSettings(languages=self.languages, text=self.text)
