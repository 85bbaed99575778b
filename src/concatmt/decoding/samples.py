"""Translates a few documents with a model that is still being trained."""

from concatmt.decoding.config import SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.threads import one_core
from concatmt.decoding.translator import Translator
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import TextPipeline


def translate_samples(
    model: Transformer, text: TextPipeline, documents: list[list[str]], beam: int
) -> list[list[str]]:
    """Translate documents, with the model's own translations as context."""
    with one_core():
        engine = Engine(model)
    translator = Translator(engine, text, TranslateConfig(search=SearchConfig(beam=beam)))
    return [
        [translation.text for translation in document]
        for document in translator.translate_documents(documents)
    ]
