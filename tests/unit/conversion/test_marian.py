"""Marian's own models against what Marian computes with them (shared/golden-marian)."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from concatmt.conversion.marian import import_marian
from concatmt.conversion.marian_vocabulary import read_vocabulary
from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.errors import UserError
from concatmt.text.marian import MarianConfig

GOLDEN = Path(__file__).parents[4] / "shared" / "golden-marian"
needs_golden = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="needs ../shared/golden-marian, which holds outputs of Marian"
)
SETS = ["relu-shared", "swish-opus"]
AS_IT_IS = MarianConfig(normalise="none")
POOL = PoolConfig(threads=1)


def expected(name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The items, and the symbols by Marian's ids."""
    items = json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8"))["items"]
    content = (GOLDEN / name / "vocab.yml").read_bytes()
    return items, read_vocabulary("vocab.yml", content, content.count(b"\n") + 1)


@needs_golden
@pytest.mark.parametrize("name", SETS)
def test_ids_and_log_probs_are_those_of_marian(name: str) -> None:
    imported = import_marian(GOLDEN / name, AS_IT_IS)
    items, symbols = expected(name)
    assert len(items) == 50
    windows = []
    for item in items:
        sides = []
        for codec, side in ((imported.text.source, "source"), (imported.text.target, "reference")):
            ids = codec.encode(item[f"{side}_raw"])
            theirs = [symbols[i] for i in item[f"{side}_ids"][:-1]]
            assert codec.vocabulary.decode(ids) == theirs
            sides.append(ids)
        windows.append(ScoringItem([sides[0]], [[sides[1]]]))
    exact = score_items(Engine(imported.model), windows, POOL)
    rounded = score_items(Engine(imported.model, int8=True), windows, POOL)
    for item, scores, scores_int8 in zip(items, exact, rounded, strict=True):
        assert scores[0] == pytest.approx(item["reference_word_scores"], abs=2e-5)
        assert scores_int8[0] == pytest.approx(item["reference_word_scores"], abs=0.15)


@needs_golden
@pytest.mark.parametrize("name", SETS)
def test_the_four_best_are_those_of_marian(name: str) -> None:
    """Its scores too, but for hypotheses that were cut off there: they have no end."""
    imported = import_marian(GOLDEN / name, AS_IT_IS)
    items, symbols = expected(name)
    windows = [Window([imported.text.source.encode(item["source_raw"])]) for item in items]
    config = SearchConfig(
        beam=4, length_penalty=0.6, stop="narrow", length_factor=3, length_constant=3
    )
    found = Search(Engine(imported.model), config).run(windows)
    vocabulary = imported.text.target.vocabulary
    cut_off = 0
    for item, hypotheses in zip(items, found, strict=True):
        theirs = item["nbest"]
        words = [[symbols[i] for i in of["ids"] if i] for of in theirs]
        assert [vocabulary.decode(of.tokens) for of in hypotheses] == words
        assert imported.text.target.decode(hypotheses[0].tokens) == theirs[0]["text"]
        for ours, of in zip(hypotheses, theirs, strict=True):
            if of["ids"][-1] == 0:
                assert ours.score == pytest.approx(of["normalized"], abs=1e-4)
            else:
                cut_off += 1
    assert cut_off == (name == "relu-shared")


def options(text: str, **changes: str) -> str:
    """The YAML text with other values for some keys."""
    lines = text.rstrip("\0").split("\n")
    kept = [line for line in lines if line.partition(":")[0] not in changes]
    return "\n".join([*kept, *(f"{key}: {value}" for key, value in changes.items()), "\0"])


def with_changes(tmp_path: Path, without: tuple[str, ...] = (), **changes: str) -> Path:
    """A copy of a model with other options or without some tensors."""
    folder = Path(shutil.copytree(GOLDEN / "swish-opus", tmp_path / "model"))
    arrays = dict(np.load(folder / "model.npz"))
    text = arrays["special:model.yml"].tobytes().decode()
    changed = options(text, **{key.replace("_", "-"): value for key, value in changes.items()})
    arrays["special:model.yml"] = np.frombuffer(changed.encode(), dtype=np.int8)
    np.savez(folder / "model.npz", **{k: v for k, v in arrays.items() if k not in without})
    return folder


@needs_golden
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transformer_decoder_autoreg": "rnn"}, "autoreg 'rnn' .*recurrent, as in small student"),
        ({"transformer_train_position_embeddings": "true"}, "its positions are trained"),
        ({"type": "s2s"}, "type 's2s'; only 'transformer'"),
        ({"transformer_ffn_activation": "gelu"}, "'gelu' is neither relu nor swish"),
        (
            {"transformer_postprocess_emb": "nd"},
            "transformer-postprocess-emb 'nd' has no counterpart",
        ),
        ({"transformer_postprocess": "da"}, "only norms after every sublayer"),
        ({"transformer_tied_layers": "[1, 1]"}, "transformer-tied-layers .* has no counterpart"),
        ({"transformer_attention_mask": "alibi"}, "transformer-attention-mask 'alibi'"),
        ({"transformer_no_projection": "true"}, "transformer-no-projection True"),
        ({"right_left": "true"}, "right-left True"),
        ({"lemma_dim_emb": "8"}, "lemma-dim-emb 8"),
        ({"enc_depth": "3"}, "'encoder_l3_self_Wq' is missing"),
        ({"enc_depth": "1"}, "16 tensors have no place here"),
        ({"transformer_dim_ffn": "128"}, "has shape"),
        ({"tied_embeddings_all": "false"}, "'encoder_Wemb' is missing"),
        ({"dim_vocabs": "[700, 700]"}, "has 625 rows, but dim-vocabs says 700"),
        ({"dim_vocabs": "7"}, "expected the sizes of two"),
        ({"transformer_heads": "7"}, "cannot be split over 7"),
    ],
)
def test_options_that_change_the_function_are_refused_by_name(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        import_marian(with_changes(tmp_path, **changes))


@needs_golden
def test_options_of_training_and_other_types_are_ignored(tmp_path: Path) -> None:
    folder = with_changes(
        tmp_path, enc_cell="lstm", transformer_depth_scaling="true", transformer_aan_depth="3"
    )
    assert import_marian(folder).model.config.architecture.activation == "swish"


@needs_golden
def test_a_released_zip_is_the_same_model(tmp_path: Path) -> None:
    folder = GOLDEN / "swish-opus"
    released = {
        "opus.npz.best-perplexity.npz": folder / "model.npz",
        "opus.vocab.yml": folder / "vocab.yml",
        "source.spm": folder / "source.spm",
        "target.spm": folder / "target.spm",
    }
    path = tmp_path / "opus-en-de.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, file in released.items():
            archive.write(file, name)
        archive.writestr("LICENSE", "Attribution 4.0 International\n\nmore")
        archive.writestr("README.md", "# a model\n")
    imported, plain = import_marian(path), import_marian(folder)
    assert imported.text.source.vocabulary.symbols == plain.text.source.vocabulary.symbols
    for ours, theirs in zip(imported.model.parameters(), plain.model.parameters(), strict=True):
        assert ours.equal(theirs)
    assert imported.origin.licence == "Attribution 4.0 International"
    assert (imported.text.settings.languages.source, set(imported.papers)) == (
        "en",
        {"LICENSE", "README.md"},
    )


@needs_golden
def test_files_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    def zipped(*names: str, size: int | None = None) -> Path:
        path = tmp_path / "model.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.write(GOLDEN / "swish-opus" / name, name)
        path.write_bytes(path.read_bytes()[:size])
        return path

    spm = ("source.spm", "target.spm")
    with pytest.raises(UserError, match=r"has no source\.spm and no target\.spm"):
        import_marian(zipped("model.npz", "vocab.yml"))
    # The model of one side does not serve the other; only a joint one serves both.
    with pytest.raises(UserError, match=r"has no source\.spm, which its text needs"):
        import_marian(zipped("model.npz", "vocab.yml", "target.spm"))
    with pytest.raises(UserError, match="has no vocabulary"):
        import_marian(zipped("model.npz", *spm))
    with pytest.raises(UserError, match=r"has no model \(\*\.npz\)"):
        import_marian(zipped("vocab.yml", *spm))
    with pytest.raises(UserError, match="damaged, or not a zip file"):
        import_marian(zipped("model.npz", "vocab.yml", *spm, size=300_000))
    folder = Path(shutil.copytree(GOLDEN / "swish-opus", tmp_path / "cut"))
    (folder / "model.npz").write_bytes((folder / "model.npz").read_bytes()[:100_000])
    with pytest.raises(UserError, match=r"model\.npz is damaged"):
        import_marian(folder)


@needs_golden
def test_a_vocabulary_with_gaps_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(GOLDEN / "swish-opus", tmp_path / "model"))
    lines = (folder / "vocab.yml").read_text(encoding="utf-8").split("\n")
    (folder / "vocab.yml").write_text("\n".join(lines[:50] + lines[51:]), encoding="utf-8")
    with pytest.raises(UserError, match="none has the id 50: lines are missing"):
        import_marian(folder)


def test_symbols_of_yaml_are_text_whatever_they_look_like() -> None:
    """Expected values by the rules of YAML 1.2 for quoted and plain scalars."""
    lines = [
        "</s>: 0", "<unk>: 1", "5: 2", "no: 3", '"\\"": 4', "'''': 5", '"\\x85": 6',
        '"\\u2581a\\\\": 7', '? "long key"', ": 8", "a:b: 9", '":": 10', "~: 11", "\u2028: 12",
    ]  # fmt: skip
    symbols = read_vocabulary("vocab.yml", "\n".join(lines).encode(), 14)
    assert symbols[2:8] == ["5", "no", '"', "'", "\x85", "\u2581a\\"]
    assert symbols[8:] == ["long key", "a:b", ":", "~", "\u2028", "<row 13>"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("</s>: 0\n<unk>: one", "line 2: expected 'symbol: id'"),
        ("</s>: 0\n<unk>: 0", "line 2: the id 0 occurs twice"),
        ("</s>: 0\n<unk>: 1\na: 2\na: 3", "the symbol 'a' occurs twice"),
        ("</s>: 0\na: 1", "it has no <unk>"),
        ("</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 4", "5 symbols, but the model has rows for 4"),
    ],
)
def test_damaged_vocabularies_are_refused(content: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_vocabulary("vocab.yml", content.encode(), 4)
