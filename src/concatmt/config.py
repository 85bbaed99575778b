"""The configuration tree: each component's settings under its own key."""

from concatmt.corpus.prepare import CorpusConfig
from concatmt.settings import Settings
from concatmt.text.pipeline import Languages, TextConfig, TextSettings
from concatmt.text.sentence_piece import SentencePieceConfig


class Config(Settings):
    """Everything that a run depends on."""

    languages: Languages
    text: TextConfig = SentencePieceConfig()
    corpus: CorpusConfig

    def text_settings(self) -> TextSettings:
        """Languages and text pipeline together, as the text pipeline keeps them."""
        return TextSettings(languages=self.languages, text=self.text)
