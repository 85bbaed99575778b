"""Configuration errors name the key, the value and the nearest valid name, in one line."""

from pathlib import Path

import pytest

from concatmt.config import Config
from concatmt.errors import UserError
from concatmt.settings import load_settings, preset_names

YAML = """
languages: {source: en, target: de}
text: {kind: moses-bpe, merges: 100}
corpus:
  splits:
    train: [{format: ids, source: a, target: b, ids: c}]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "c.yaml").write_text(YAML)
    return tmp_path / "c.yaml"


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_valid(name: str) -> None:
    corpus = load_settings(Config, name).corpus
    assert corpus is None or corpus.splits


def test_overrides_replace_values(config: Path) -> None:
    settings = load_settings(Config, config, ["text.merges=7", "corpus.root=data"])
    assert settings.text.model_dump()["merges"] == 7
    assert settings.corpus.root == Path("data")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("text.mergs=3", "text.mergs: unknown key; did you mean 'merges'?"),
        ("zzz=3", "zzz: unknown key; keys here are corpus, languages, model, text, training"),
        ("text.merges=many", "text.merges: input should be a valid integer"),
        ("text.merges=0", "text.merges: input should be greater than or equal to 1, found 0"),
        ("text.kind=moses", "text.kind: must be one of 'moses-bpe', 'sentencepiece', 'whitespace'"),
        (
            "corpus.splits.train=[{format: ids, source: a, target: b, idz: c}]",
            "corpus.splits.train.0.ids: missing, must be given; "
            "corpus.splits.train.0.idz: unknown key; did you mean 'ids'?",
        ),
        ("corpus.splits={}", "corpus.splits: dictionary should have at least 1 item"),
        ("nonsense", "--set 'nonsense': write it as key.subkey=value"),
        ("text.merges.x=1", "'merges' holds a value and has no keys below it"),
        ("text.merges=2020-13-45", "--set 'text.merges=2020-13-45': the value is not valid YAML"),
        ("text.merges=" + "[" * 2000, "the value is not valid YAML"),
        ("text.merges=" + "9" * 5000, "the value is not valid YAML"),
        ("text.merges=" + "x" * 5000, "text.merges: input should be a valid integer"),
    ],
)
def test_a_bad_setting_is_reported_in_one_line(config: Path, override: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        load_settings(Config, config, [override])
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


def test_an_unknown_preset_is_reported_with_the_nearest(config: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'en-de-iwslt17'"):
        load_settings(Config, "en-de-iwslt")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a: [", "not valid YAML"), (b"- a", "found a list"), (b"\xff", "not UTF-8 at byte 0")],
)
def test_a_file_that_is_no_config_is_refused(config: Path, content: bytes, message: str) -> None:
    config.write_bytes(content)
    with pytest.raises(UserError, match=message):
        load_settings(Config, config)


def test_what_is_missing_or_no_list_is_told_with_what_it_could_be() -> None:
    with pytest.raises(UserError, match=r"text\.kind: missing, must be one of .*sentencepiece"):
        load_settings(Config, {"text": {"size": 300}})
    with pytest.raises(UserError, match=r"training\.track: must be a list, as in \[a, b\], found"):
        load_settings(Config, {"training": {"track": "wandb"}})
