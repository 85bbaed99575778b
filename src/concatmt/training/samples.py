"""Translates some documents at every validation: BLEU, chrF and a few sentences to look at.

Does not know how to translate: whoever starts the training passes a function for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from concatmt.corpus.store import Sentences, Store
from concatmt.model.transformer import Transformer
from concatmt.text.pipeline import TextPipeline
from concatmt.training.config import SamplesConfig

Documents = list[list[str]]
# (model, text pipeline, documents, beam) -> their translations, sentence by sentence
TranslateSamples = Callable[[Transformer, TextPipeline, Documents, int], Documents]


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence with its translations."""

    source: str
    reference: str
    ours: str


@dataclass(frozen=True, slots=True)
class SampleReport:
    """Quality of the samples (sacrebleu's defaults for the language), and some of them."""

    bleu: float
    chrf: float
    shown: Sequence[Sample]

    def lines(self) -> list[str]:
        """Lines for the console."""
        lines = [f"  samples: BLEU {self.bleu:.1f}, chrF {self.chrf:.1f}"]
        for sample in self.shown:
            lines += [f"    {sample.source}", f"      reference  {sample.reference}"]
            lines += [f"      model      {sample.ours}"]
        return lines


class Samples:
    """The same documents each time, spread over the validation split."""

    def __init__(self, store: Store, config: SamplesConfig, translate: TranslateSamples) -> None:
        split, self.text = store.split("valid"), store.text
        documents = list(pairwise(np.asarray(split.documents).tolist()))
        count = min(config.documents, len(documents))
        places = [int((i + 0.5) * len(documents) / count) for i in range(count)]
        self.sources = [self._texts(split.source, *documents[i], source=True) for i in places]
        self.references = [self._texts(split.target, *documents[i], source=False) for i in places]
        self.config, self.translate = config, translate

    def _texts(self, side: Sentences, start: int, end: int, source: bool) -> list[str]:
        codec = self.text.source if source else self.text.target
        return [codec.decode(side[i]) for i in range(start, end)]

    def __call__(self, model: Transformer) -> SampleReport:
        """Translate the documents; the model must be in evaluation mode."""
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        training = model.training
        model.eval()
        try:
            translations = self.translate(model, self.text, self.sources, self.config.beam)
        finally:
            model.train(training)
        sources, references, ours = (
            [sentence for document in documents for sentence in document]
            for documents in (self.sources, self.references, translations)
        )
        language = self.text.settings.languages.target
        show = min(self.config.show, len(ours))
        places = [int((i + 0.5) * len(ours) / show) for i in range(show)]
        return SampleReport(
            BLEU(trg_lang=language).corpus_score(ours, [references]).score,
            CHRF().corpus_score(ours, [references]).score,
            [Sample(sources[i], references[i], ours[i]) for i in places],
        )
