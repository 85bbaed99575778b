"""Validations translate documents, and say what a pretrained model could before."""

from pathlib import Path

import pytest

from concatmt.decoding.samples import translate_samples
from concatmt.errors import UserError
from concatmt.model.adapt import with_system
from concatmt.model.directory import load_model
from concatmt.model.systems import parse_system
from concatmt.training.config import SamplesConfig
from concatmt.training.run import Run
from concatmt.training.samples import Samples
from concatmt.training.train import train
from tests.unit.training.tiny import make_data, make_task, open_data

SAMPLES = {"documents": 3, "show": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def test_a_translator_that_returns_the_references_has_a_bleu_of_100(data: Path) -> None:
    store = open_data(data)
    samples = Samples(
        store,
        SamplesConfig(**SAMPLES),
        lambda model, text, documents, beam: [
            [sentence.replace("a", "b") for sentence in document] for document in documents
        ],
    )
    report = samples(load_any(data))
    assert (report.bleu, report.chrf) == (pytest.approx(100), pytest.approx(100))
    assert len(samples.sources) == 3
    assert [(one.reference, one.ours) for one in report.shown] == [
        (one.source.replace("a", "b"),) * 2 for one in report.shown
    ]


def load_any(data: Path) -> object:
    from concatmt.training.train import build_model

    return build_model(open_data(data), make_task(data))


def test_samples_are_printed_and_recorded_and_change_no_bit(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = make_task(data, max_updates=10)
    assert train(plain, tmp_path / "plain")
    capsys.readouterr()
    assert train(
        make_task(data, max_updates=10, samples=SAMPLES), tmp_path / "run", translate_samples
    )
    said = capsys.readouterr().err
    records = [r for r in Run(tmp_path / "run").metrics() if r["kind"] == "valid"]
    assert all(0 <= r["bleu"] <= 100 and 0 <= r["chrf"] <= 100 for r in records)
    assert said.count("samples: BLEU") == len(records) == 2
    assert said.count("      reference  ") == 4
    ours, theirs = (
        (tmp_path / n / "model/model.safetensors").read_bytes() for n in ("plain", "run")
    )
    assert ours == theirs
    assert "BLEU" in (tmp_path / "run/model/README.md").read_text("utf-8")


def test_samples_without_anything_that_translates_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training\.samples: no function that translates"):
        train(make_task(data, samples=SAMPLES), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_before_training_on_windows_what_the_model_could_is_measured(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(make_task(data, "base", max_updates=5), tmp_path / "base")
    task = make_task(
        data,
        "s3to3+cd",
        max_updates=5,
        warm_start=str(tmp_path / "base/model"),
        validate_sentences=True,
        log_seconds=1e-9,
    )
    capsys.readouterr()
    train(task, tmp_path / "run")
    said = capsys.readouterr().err
    records = Run(tmp_path / "run").metrics()
    (start,) = [r for r in records if r["kind"] == "start"]
    last = [r for r in records if r["kind"] == "valid"][-1]
    change = last["alone"] - start["alone"]
    assert start["update"] == 0
    assert f"without context {last['alone']:.4f} ({change:+.4f} since the start)" in said
    # Every update is later than the last line by more than log_seconds.
    assert [r["update"] for r in records if r["kind"] == "train"] == [1, 2, 3, 4, 5]
    assert "target tokens/s" in said
    card = (tmp_path / "run/model/README.md").read_text("utf-8")
    assert f"(before training {start['alone']:.3f})" in card


def test_a_model_of_windows_that_was_trained_on_documents_is_said_to_be(
    data: Path, tmp_path: Path
) -> None:
    from concatmt.model.card import Origin, read_origin, write_card
    from concatmt.model.directory import save_model

    train(make_task(data, "base", max_updates=5), tmp_path / "base")
    wide = with_system(load_model(tmp_path / "base/model"), parse_system("s3to3"), "copy", None)
    origin = Origin(made_from="a test", licence="of a test", trained_on_windows=False)

    def write(folder: Path) -> None:
        open_data(data).text.save(folder / "text")
        write_card(folder, ("en", "de"), wide.config, origin, {})
        (folder / "ORIGINAL-LICENSE").write_text("the licence", "utf-8")

    save_model(tmp_path / "wide", wide, write)
    train(
        make_task(data, "s3to3", max_updates=5, warm_start=str(tmp_path / "wide")), tmp_path / "run"
    )
    after = read_origin(tmp_path / "run/model")
    assert after is not None
    assert (after.trained_on_windows, after.licence) == (True, "of a test")
    assert "fine-tuned as s3to3" in after.steps[-1]
    assert (tmp_path / "run/model/ORIGINAL-LICENSE").read_text("utf-8") == "the licence"
