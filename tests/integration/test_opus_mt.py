"""Real OPUS-MT models against transformers.

Runs where the environment variable CONCATMT_OPUS_MT names a folder that holds `opus-mt-en-fr` and
`opus-mt-fr-en`, directories of Hugging Face, and `sentences.en` and `sentences.fr`, one a line;
and where transformers can be imported. The same comparisons with small models always run:
tests/unit/conversion. CONCATMT_TUNED names a model directory of windows, made of opus-mt-en-fr by
fine-tuning (docs/pretrained.md), for the comparison of what is exported.
"""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from concatmt.conversion.convert import convert_out
from concatmt.conversion.hugging_face import import_hugging_face
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.model.directory import load_model
from concatmt.text.marian import MarianConfig
from concatmt.text.pipeline import TextPipeline
from concatmt.text.vocabulary import SEPARATOR

MODELS = os.environ.get("CONCATMT_OPUS_MT")
pytestmark = pytest.mark.skipif(
    MODELS is None,
    reason="CONCATMT_OPUS_MT names no folder with opus-mt-en-fr, opus-mt-fr-en, sentences.en and"
    " sentences.fr",
)
TUNED = os.environ.get("CONCATMT_TUNED")
SENTENCES = 200
WINDOWS = 40
AT_A_TIME = 20


def with_transformers(folder: Path, lines: list[str]) -> list[dict[str, Any]]:
    """Symbols of the source and of the best of four beams, with its sum of log-probs."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    model = transformers.MarianMTModel.from_pretrained(folder).eval()
    symbols = {i: symbol for symbol, i in tokenizer.get_vocab().items()}
    found = []
    with torch.no_grad():
        for line in lines:
            ids = tokenizer([line], return_tensors="pt")
            best = model.generate(**ids, num_beams=4, length_penalty=1.0, max_length=512)[:, 1:]
            logits = model(**ids, labels=best).logits
            # These models' generate() takes padding out of the softmax (renormalize_logits).
            assert model.generation_config.renormalize_logits
            logits[..., model.config.pad_token_id] = -torch.inf
            logits = logits.log_softmax(-1)[0]
            found.append(
                {
                    "source": [symbols[i] for i in ids["input_ids"][0].tolist()[:-1]],
                    "target": [symbols[i] for i in best[0].tolist()[:-1]],
                    "sum": logits.gather(1, best[0][:, None]).sum().item(),
                }
            )
    return found


@pytest.mark.parametrize("pair", ["en-fr", "fr-en"])
def test_ids_log_probs_and_translations_of_opus_mt_are_those_of_transformers(pair: str) -> None:
    assert MODELS is not None
    folder = Path(MODELS) / f"opus-mt-{pair}"
    text_file = Path(MODELS) / f"sentences.{pair[:2]}"
    lines = text_file.read_text(encoding="utf-8").splitlines()[:SENTENCES]
    theirs = with_transformers(folder, lines)
    imported = import_hugging_face(folder, "port", MarianConfig(normalise="none"))
    text, engine = imported.text, Engine(imported.model)
    sources = [text.source.encode(line) for line in lines]
    for source, item in zip(sources, theirs, strict=True):
        assert text.source.vocabulary.decode(source) == item["source"]
    targets = [text.target.vocabulary.encode(item["target"]) for item in theirs]
    items = [ScoringItem([a], [[b]]) for a, b in zip(sources, targets, strict=True)]
    scores = score_items(engine, items, PoolConfig(threads=1))
    worst = max(
        abs(sum(of_item[0]) - item["sum"]) for of_item, item in zip(scores, theirs, strict=True)
    )
    config = SearchConfig(beam=4, length_penalty=1.0, stop="best", length_constant=200)
    found = []
    for first in range(0, len(items), AT_A_TIME):
        windows = [Window(item.source) for item in items[first : first + AT_A_TIME]]
        found += Search(engine, config).run(windows)
    same = [of_item[0].tokens == target for of_item, target in zip(found, targets, strict=True)]
    print(f"{pair}: {worst:.1e} nats a sentence at most, {sum(same)} of {len(same)} beams the same")
    assert worst < 1e-3
    assert sum(same) >= 0.99 * len(same)


@pytest.mark.skipif(TUNED is None, reason="CONCATMT_TUNED names no fine-tuned model of windows")
def test_generate_translates_windows_of_a_fine_tuned_model_as_we_do(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    assert MODELS is not None
    assert TUNED is not None
    convert_out(Path(TUNED), tmp_path / "exported", "huggingface")
    tokenizer = transformers.MarianTokenizer.from_pretrained(tmp_path / "exported")
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path / "exported").eval()
    names = {i: symbol for symbol, i in tokenizer.get_vocab().items()}
    model, text = load_model(Path(TUNED)), TextPipeline.load(Path(TUNED) / "text")
    symbols, engine = text.target.vocabulary.symbols, Engine(model)
    size = model.config.system.sentences
    lines = (Path(MODELS) / "sentences.en").read_text(encoding="utf-8").splitlines()
    config = SearchConfig(
        beam=4, length_penalty=1.0, stop="best", constrained=False, length_constant=200
    )
    same = 0
    for first in range(0, WINDOWS * size, size):
        # As they come out of our normalisation, which transformers does not have.
        window = [text.source.normalise(x) for x in lines[first : first + size]]
        inputs = tokenizer([tokenizer.sep_token.join(window)], return_tensors="pt")
        with torch.no_grad():
            best = theirs.generate(**inputs, num_beams=4, length_penalty=1.0, max_length=512)[0]
        kept = [names[i] for i in best.tolist()[1:] if names[i] not in ("</s>", "<pad>")]
        found = Search(engine, config).run([Window([text.source.encode(x) for x in window])])
        tokens = found[0][0].tokens
        same += [tokenizer.sep_token if i == SEPARATOR else symbols[i] for i in tokens] == kept
    print(f"{same} of {WINDOWS} windows the same")
    assert same >= 0.95 * WINDOWS
