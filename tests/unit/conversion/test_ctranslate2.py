"""Export to CTranslate2: equal translations where it is possible, a reason where it is not."""

import json
from pathlib import Path

import pytest

from concatmt.conversion.ctranslate2 import export_ctranslate2
from concatmt.conversion.fairseq import import_checkpoint
from concatmt.errors import UserError
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
from concatmt.text.vocabulary import SPECIALS
from concatmt.text.whitespace import WhitespaceCodec, WhitespaceConfig
from tests.unit.decoding.models import make_model, make_pipeline


@pytest.mark.parametrize(
    "system", ["s4to4+cd+shift5+pers", "s4to4+pers", "s4to4+lrn", "s4to4+rope", "s4to4+sync"]
)
def test_systems_with_sentence_positions_are_refused(tmp_path: Path, system: str) -> None:
    pipeline = make_pipeline()
    with pytest.raises(UserError, match="only base and sKtoK systems can be exported"):
        export_ctranslate2(make_model(system, len(pipeline.source)), pipeline, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("variant", ["s4to4", "s4to4-shared"])
def test_ctranslate2_finds_the_authors_best_beams(
    shared: Path, tmp_path: Path, variant: str
) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    folder = shared / "golden" / variant
    checkpoint = (folder / name for name in ("checkpoint.pt", "dict.src.txt", "dict.tgt.txt"))
    model, source, target = import_checkpoint(*checkpoint)
    settings = TextSettings(
        languages=Languages(source="src", target="tgt"), text=WhitespaceConfig()
    )
    text = TextPipeline(settings, WhitespaceCodec(source), WhitespaceCodec(target))
    export_ctranslate2(model, text, tmp_path / "ct2")
    windows = json.loads((folder / "expected.json").read_text())["windows"]
    separator, end = SPECIALS[2:]
    inputs = [[*f" {separator} ".join(window["source"]).split(), end] for window in windows]
    translator = ctranslate2.Translator(str(tmp_path / "ct2"), intra_threads=1)
    found = translator.translate_batch(inputs, beam_size=4, length_penalty=0.6)
    beams = [f" {separator} ".join(window["beam"][0]["text"]) for window in windows]
    wanted = [" ".join(text.split()) for text in beams]
    assert [" ".join(one.hypotheses[0]) for one in found] == wanted
