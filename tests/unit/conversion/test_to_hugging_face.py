"""MarianMT directories that we write: what came from there comes back, the rest is refused."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from concatmt.conversion.hugging_face import import_hugging_face
from concatmt.conversion.to_hugging_face import export_hugging_face
from concatmt.decoding.config import SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.search import Search
from concatmt.errors import UserError
from concatmt.model.adapt import with_system
from concatmt.model.systems import parse_system
from concatmt.text.marian import MarianConfig
from concatmt.text.vocabulary import PAD, SEPARATOR
from tests.unit.decoding.models import make_model, make_pipeline

GOLDEN = Path(__file__).parents[4] / "shared" / "golden-hf"
needs_golden = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="needs ../shared/golden-hf, a model of transformers"
)


@pytest.mark.parametrize("system", ["s4to4+lrn", "s4to4+srope", "s4to4+alibi"])
def test_systems_that_marianmt_cannot_compute_are_refused(tmp_path: Path, system: str) -> None:
    pipeline = make_pipeline()
    model = make_model(system, len(pipeline.source))
    with pytest.raises(UserError, match="only base and sKtoK systems can be exported"):
        export_hugging_face(model, pipeline, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@needs_golden
@pytest.mark.parametrize("name", ["shared", "trained"])
def test_a_model_of_hugging_face_comes_back_as_the_same_tensors_ids_and_sizes(
    tmp_path: Path, name: str
) -> None:
    theirs = GOLDEN / name
    imported = import_hugging_face(theirs, "port", MarianConfig(normalise="none"))
    export_hugging_face(imported.model, imported.text, tmp_path / "back", imported.origin)
    before, after = (load_file(f / "model.safetensors") for f in (theirs, tmp_path / "back"))
    # transformers makes the tables of positions by formula when a file has none.
    names = {name for name in before if "embed_positions" not in name} | {"final_logits_bias"}
    names = {name for name in names if name in after or "embed_tokens" not in name}
    assert after.keys() <= names
    for key in after.keys() & before.keys():
        assert torch.equal(after[key], before[key].float()), key
    vocabularies = [
        json.loads((f / "vocab.json").read_text("utf-8")) for f in (theirs, tmp_path / "back")
    ]
    assert vocabularies[0] == vocabularies[1]
    configs = [
        json.loads((f / "config.json").read_text("utf-8")) for f in (theirs, tmp_path / "back")
    ]
    sizes = (
        "d_model",
        "encoder_layers",
        "decoder_attention_heads",
        "decoder_ffn_dim",
        "vocab_size",
    )
    ids = ("pad_token_id", "eos_token_id", "decoder_start_token_id")
    for key in (*sizes, *ids, "activation_function", "share_encoder_decoder_embeddings"):
        assert configs[0][key] == configs[1][key], key


@needs_golden
def test_padding_leaves_the_softmax_where_generate_renormalises_and_comes_back_on_export(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "renormalising"
    shutil.copytree(GOLDEN / "trained", folder)
    path = folder / "generation_config.json"
    settings = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**settings, "renormalize_logits": True}), "utf-8")
    plain, other = (
        import_hugging_face(f, "port", MarianConfig(normalise="none"))
        for f in (GOLDEN / "trained", folder)
    )
    hidden = torch.randn(3, plain.model.config.architecture.dim)
    with torch.no_grad():
        logits = plain.model.output(hidden)
        logits[:, PAD] = -torch.inf
        assert torch.allclose(other.model.log_probs(hidden)[:, 1:], logits.log_softmax(-1)[:, 1:])
    export_hugging_face(other.model, other.text, tmp_path / "back", other.origin)
    back = json.loads((tmp_path / "back" / "generation_config.json").read_text("utf-8"))
    assert back["renormalize_logits"] is True
    tensors = (load_file(f / "model.safetensors") for f in (folder, tmp_path / "back"))
    before, after = (t["final_logits_bias"] for t in tensors)
    assert torch.equal(before, after)


@needs_golden
def test_generate_translates_windows_of_an_exported_model_as_we_do(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    imported = import_hugging_face(GOLDEN / "trained", "port", MarianConfig(normalise="none"))
    wide = with_system(imported.model, parse_system("s3to3"), "copy", None)
    # Untrained, it would never write a separator: let it do so in some windows.
    with torch.no_grad():
        wide.output.bias[SEPARATOR] += 1.5
    export_hugging_face(wide, imported.text, tmp_path / "out", imported.origin)
    tokenizer = transformers.MarianTokenizer.from_pretrained(tmp_path / "out")
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path / "out").eval()
    items = json.loads((GOLDEN / "trained" / "expected.json").read_text("utf-8"))["items"]
    sources = [item["source"] for item in items if "</s>" not in item["source"]]
    text, engine = imported.text, Engine(wide)
    limits = {"length_factor": 0.0, "length_constant": 40}
    free = SearchConfig(beam=4, length_penalty=1.0, stop="best", constrained=False, **limits)
    same = 0
    for first in range(0, 12, 2):
        window = sources[first : first + 2]
        inputs = tokenizer([tokenizer.sep_token.join(window)], return_tensors="pt")
        with torch.no_grad():  # its length counts the first input and the end
            best = theirs.generate(**inputs, num_beams=4, length_penalty=1.0, max_length=42)[0]
        ids = [text.source.encode(sentence) for sentence in window]
        found = Search(engine, free).run([Window(ids)])[0][0].tokens
        names = {i: symbol for symbol, i in tokenizer.get_vocab().items()}
        kept = [names[i] for i in best.tolist()[1:] if names[i] not in ("</s>", "<pad>")]
        symbols = text.target.vocabulary.symbols
        ours = [tokenizer.sep_token if i == SEPARATOR else symbols[i] for i in found]
        same += ours == kept
    assert same >= 5
