"""MarianMT directories against what transformers computes with them (shared/golden-hf)."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from concatmt.conversion.config import ImportConfig
from concatmt.conversion.convert import import_model
from concatmt.conversion.hugging_face import import_hugging_face
from concatmt.conversion.imported import Imported, save_imported
from concatmt.conversion.weights import NEVER
from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.model.adapt import with_system
from concatmt.model.card import UNTRAINED
from concatmt.model.systems import parse_system
from concatmt.text.marian import MarianConfig
from concatmt.text.vocabulary import END, PAD, SEPARATOR

GOLDEN = Path(__file__).parents[4] / "shared" / "golden-hf"
pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="needs ../shared/golden-hf, which holds outputs of transformers"
)
LITERAL = "</s>"  # an item whose text spells specials, which stay text here and do not there


def imported(name: str) -> Imported:
    """Positions and text as in transformers, which normalises nothing."""
    return import_hugging_face(GOLDEN / name, "port", MarianConfig(normalise="none"))


def expected(name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The items, and the symbols by transformers' ids."""
    ids = json.loads((GOLDEN / name / "vocab.json").read_text(encoding="utf-8"))
    items = json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8"))["items"]
    return [item for item in items if LITERAL not in item["source"]], sorted(ids, key=ids.get)


@pytest.mark.parametrize("name", ["shared", "trained"])
def test_ids_and_log_probs_are_those_of_transformers(name: str) -> None:
    model = imported(name)
    text = model.text
    items, symbols = expected(name)
    assert len(items) >= 39
    windows = []
    for item in items:
        sides = []
        for side, codec in (("source", text.source), ("target", text.target)):
            ids = codec.encode(item[side])
            theirs = [symbols[i] for i in item[f"{side}_ids"][:-1]]
            assert codec.vocabulary.decode(ids) == theirs
            sides.append(ids)
        windows.append(ScoringItem([sides[0]], [[sides[1]]]))
    pool = PoolConfig(threads=1)
    for item, scores in zip(items, score_items(Engine(model.model), windows, pool), strict=True):
        assert scores[0] == pytest.approx(item["log_probs"], abs=1e-4)


def test_int8_stays_within_a_fifth_of_a_nat_a_token() -> None:
    model = imported("trained")
    text = model.text
    items, _ = expected("trained")
    windows = [
        ScoringItem([text.source.encode(item["source"])], [[text.target.encode(item["target"])]])
        for item in items
    ]
    scores = score_items(Engine(model.model, int8=True), windows, PoolConfig(threads=1))
    for item, of_item in zip(items, scores, strict=True):
        assert of_item[0] == pytest.approx(item["log_probs"], abs=0.2)


def test_all_translations_are_those_of_generate() -> None:
    """But for those with an empty one, never given here, and with 46 tokens, cut off there.

    generate() gives what it cuts off an end of probability 1.
    """
    model = imported("trained")
    text = model.text
    items, symbols = expected("trained")
    config = SearchConfig(
        beam=4, length_penalty=0.6, stop="best", length_factor=0, length_constant=46
    )
    windows = [Window([text.source.encode(item["source"])]) for item in items]
    found = Search(Engine(model.model), config).run(windows)
    left_out = 0
    for item, hypotheses in zip(items, found, strict=True):
        theirs = [
            [symbols[i] for i in of["ids"][1:] if symbols[i] not in ("</s>", "<pad>")]
            for of in item["beam4"]
        ]
        if any(len(tokens) in (0, 46) for tokens in theirs):
            left_out += 1
            continue
        assert [text.target.vocabulary.decode(h.tokens) for h in hypotheses] == theirs
        scores = [of["score"] for of in item["beam4"]]
        assert [h.score for h in hypotheses] == pytest.approx(scores, abs=1e-4)
        assert text.target.decode(hypotheses[0].tokens) == item["beam4"][0]["text"]
    assert left_out == 5


def test_text_that_spells_specials_stays_text() -> None:
    codec = imported("trained").text.source
    assert not {PAD, SEPARATOR, END} & set(codec.encode("</s> <unk> <pad> <end>"))


def test_a_window_model_translates_as_many_sentences_as_it_is_given(tmp_path: Path) -> None:
    windows = import_model(GOLDEN / "trained", ImportConfig(system="s3to3+cd+lrn+pers"))
    save_imported(windows, tmp_path / "model")
    translator = Translator.load(tmp_path / "model")
    sentences = ["hello, how can i help you?", "i need a table.", "for how many?", "two."]
    assert len(translator.translate_document(sentences)) == len(sentences)
    assert "never trained on windows" in (tmp_path / "model" / "README.md").read_text()
    assert translator.notes == [UNTRAINED]
    assert not Translator.load(tmp_path / "model", TranslateConfig(context=0)).notes


def test_segments_start_as_nothing_and_one_sentence_is_translated_as_before() -> None:
    model = imported("trained").model
    wide = with_system(model, parse_system("s3to3+lrn+pers"), "copy", None)
    item = ScoringItem([[9, 10, 11]], [[[12, 13, 14]]])
    pool = PoolConfig(threads=1)
    before, after = (score_items(Engine(of), [item], pool)[0][0] for of in (model, wide))
    # The separator is one symbol more in the softmax, as probable as <end>: a factor of 1 to 2.
    for old, new in zip(before, after, strict=True):
        assert old - math.log(2) < new < old
    with torch.no_grad():
        wide.output.bias[SEPARATOR] = NEVER
    assert score_items(Engine(wide), [item], pool)[0][0] == pytest.approx(before, abs=1e-5)


def spoilt(tmp_path: Path, name: str = "trained") -> Path:
    return Path(shutil.copytree(GOLDEN / name, tmp_path / name))


def change(path: Path, **values: Any) -> None:
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tree, **values}), encoding="utf-8")


@pytest.mark.parametrize(
    ("change_of_config", "message"),
    [
        ({"activation_function": "gelu"}, "activation_function 'gelu'"),
        ({"normalize_embedding": True}, "normalize_embedding True has no counterpart"),
        ({"scale_embedding": False}, "scale_embedding False has no counterpart"),
        ({"model_type": "bart"}, "only 'marian'"),
        ({"decoder_start_token_id": 5}, "neither padding nor the end"),
        ({"encoder_layers": 3}, "is missing"),
        ({"encoder_layers": 1}, "have no place here"),
        ({"encoder_ffn_dim": 128}, "has shape"),
    ],
)
def test_what_changes_the_function_is_refused_by_name(
    tmp_path: Path, change_of_config: dict[str, Any], message: str
) -> None:
    folder = spoilt(tmp_path)
    change(folder / "config.json", **change_of_config)
    with pytest.raises(UserError, match=message):
        import_hugging_face(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("100000", "expected a JSON object"),
        ('{"source_lang": ["en"]}', "source_lang: expected text"),
        ('{"sep_token": {"content": 7}}', "sep_token: expected text"),
    ],
)
def test_settings_of_the_tokenizer_of_another_type_are_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    folder = spoilt(tmp_path)
    (folder / "tokenizer_config.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        import_hugging_face(folder)


def test_damaged_directories_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = spoilt(tmp_path)
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    gap = {symbol: i + (i > 100) for symbol, i in vocabulary.items()}
    (folder / "vocab.json").write_text(json.dumps(gap), encoding="utf-8")
    with pytest.raises(UserError, match="ids are not 0 to 625"):
        import_hugging_face(folder)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    weights = folder / "model.safetensors"
    tensors = load_file(weights)
    tied = {**tensors, "lm_head.weight": tensors["model.shared.weight"] + 1}
    save_file(tied, weights)
    with pytest.raises(UserError, match="'lm_head.weight' differs"):
        import_hugging_face(folder)
    trained = tensors["model.shared.weight"][:512].clone()
    save_file({**tensors, "model.encoder.embed_positions.weight": trained}, weights)
    with pytest.raises(UserError, match="trained positions"):
        import_hugging_face(folder)
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UserError, match="damaged"):
        import_hugging_face(folder)
    save_file(tensors, weights)
    (folder / "source.spm").unlink()
    with pytest.raises(UserError, match="has no source.spm"):
        import_hugging_face(folder)


def test_a_multilingual_model_wants_a_label(tmp_path: Path) -> None:
    folder = spoilt(tmp_path, "shared")
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    word = next(symbol for symbol, i in vocabulary.items() if i == 10)
    vocabulary[">>fra<<"] = vocabulary.pop(word)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    with pytest.raises(UserError, match="choose one with --label: >>deu<<, >>fra<<"):
        import_hugging_face(folder)
    with pytest.raises(UserError, match="label >>ita<<: not in the model's vocabulary"):
        import_hugging_face(folder, text=MarianConfig(label=">>ita<<"))
    text = import_hugging_face(folder, text=MarianConfig(label=">>fra<<")).text
    assert text.source.encode("hello")[0] == text.source.vocabulary.ids[">>fra<<"]
