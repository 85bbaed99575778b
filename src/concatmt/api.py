"""The Python API: one function for each verb of `concatmt`, for scripts and notebooks.

Each takes what its verb takes (paths and settings) and returns objects instead of printing. Bad
input is a `UserError` with one line. Import them from the package: `concatmt.prepare`.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from concatmt.config import Config
from concatmt.corpus.parts import Part
from concatmt.corpus.prepare import PrepareReport
from concatmt.corpus.prepare import prepare as _prepare
from concatmt.corpus.store import Store
from concatmt.decoding.config import PoolConfig
from concatmt.decoding.document_scores import DocumentScorer, SentenceScore
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.samples import translate_samples
from concatmt.errors import UserError
from concatmt.model.systems import parse_system
from concatmt.settings import load_settings
from concatmt.text.pipeline import TextPipeline
from concatmt.training.run import Run
from concatmt.training.train import make_task
from concatmt.training.train import train as _train

if TYPE_CHECKING:
    from concatmt.evaluation.findings import Report

Given = str | Path | Mapping[str, Any]  # a YAML file, the name of a preset, or the settings
Changes = Mapping[str, Any] | Sequence[str]  # {"text.size": 8000}, or ["text.size=8000"]


def prepare(
    config: Given,
    output: str | Path,
    *,
    settings: Changes = (),
    text: str | Path | None = None,
    workers: int | None = None,
) -> Store:
    """Turn parallel documents into a vocabulary and a store in `output`.

    `text` is a store or a model whose text pipeline to use; by default one is learnt. `workers`
    is the number of processes, by default one per core.
    """
    store, report = prepare_and_report(
        config, output, settings=settings, text=text, workers=workers
    )
    for line in report.warnings:
        warnings.warn(line, stacklevel=2)
    return store


def prepare_and_report(
    config: Given,
    output: str | Path,
    *,
    settings: Changes = (),
    text: str | Path | None = None,
    workers: int | None = None,
) -> tuple[Store, PrepareReport]:
    """Like `prepare`, but also return a report of what was repaired and dropped."""
    corpus, text_settings = load_settings(Config, config, settings).to_prepare()
    pipeline = None
    if text is not None:
        pipeline = TextPipeline.load(Path(text) / "text")
        text_settings = pipeline.settings
    return _prepare(corpus, text_settings, Path(output), pipeline, workers)


def train(
    config: Given,
    *,
    data: str | Path,
    system: str,
    output: str | Path,
    init: str | Path | None = None,
    seed: int = 1,
    settings: Changes = (),
) -> Path:
    """Train a system on a store; returns the model directory, inside the run directory `output`.

    `init` is a model directory to start from, with its sizes (use the preset `finetune`).
    Called again with the same arguments, it resumes where it was interrupted.
    """
    chosen = load_settings(Config, config, settings)
    start = None if init is None else Path(init)
    task = make_task(Path(data), parse_system(system), chosen.model, chosen.training, seed, start)
    if not _train(task, Path(output), translate_samples):
        raise UserError(f"{output}: stopped before the end; train again to resume")
    return Run(Path(output)).model


def score(
    model: str | Path,
    documents: Sequence[tuple[Sequence[str], Sequence[str]]],
    *,
    context: int | Sequence[int] | None = None,
    int8: bool = False,
    pool: PoolConfig | None = None,
) -> list[SentenceScore]:
    """Return the log-probability of each token of given translations.

    A document is a pair of lists, sentences and translations. `context` is how many
    preceding sentences the model sees, by default all that it was trained for; several
    amounts are scored in turn.
    """
    loaded = LoadedModel.load(Path(model), int8)
    if context is None:
        context = loaded.engine.config.system.sentences - 1
    contexts = [context] if isinstance(context, int) else list(context)
    parts = [_part(number, *document) for number, document in enumerate(documents, start=1)]
    scorer = DocumentScorer(loaded, contexts, pool or PoolConfig())
    return [sentence for of_part in scorer.scores(parts) for sentence in of_part]


def evaluate(
    systems: Sequence[str | Path] | Mapping[str, str | Path | Sequence[str | Path]],
    on: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    settings: Changes = (),
    documents: str | Path | None = None,
) -> "Report":
    """Evaluate models on test sets and compare the others with the first.

    `systems` are training runs or model directories, or a dictionary of names to them; several
    runs under one name are its seeds. `on` and `documents` are as on the command line. `output`
    keeps scores and translations, and receives the report. `settings` are those of
    `EvaluateConfig`, such as {"measures": ["quality"]}.
    """
    from concatmt.evaluation.config import EvaluateConfig
    from concatmt.evaluation.evaluate import evaluate_models, write_report

    if isinstance(systems, Mapping):
        listed = [f"{name}={','.join(map(str, _listed(runs)))}" for name, runs in systems.items()]
    else:
        listed = [str(run) for run in _listed(systems)]
    config = load_settings(EvaluateConfig, {}, settings)
    folder = None if documents is None else Path(documents)
    report = evaluate_models(
        listed, [str(test_set) for test_set in _listed(on)], config, Path(output), folder
    )
    write_report(report, Path(output))
    return report


def convert(
    model: str | Path,
    output: str | Path,
    *,
    to: Literal["huggingface", "ctranslate2"] | None = None,
    quantization: str | None = None,
    settings: Changes = (),
) -> Path:
    """Turn a pretrained model into a model directory, or with `to` a model directory into another.

    `settings` apply to imports, such as {"system": "s4to4+cd"}. Returns the folder written.
    """
    from concatmt.conversion.config import ImportConfig
    from concatmt.conversion.convert import convert_in, convert_out

    path, folder = Path(model), Path(output)
    if to is None:
        convert_in(path, folder, load_settings(ImportConfig, {}, settings))
    else:
        convert_out(path, folder, to, quantization)
    return folder


def _listed(given: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [given] if isinstance(given, str | Path) else given


def _part(number: int, source: Sequence[str], target: Sequence[str]) -> Part:
    # A string is also a sequence of strings: its letters would be scored as sentences.
    if isinstance(source, str) or isinstance(target, str):
        raise UserError(f"document {number}: give lists of sentences, not strings")
    if len(source) != len(target):
        raise UserError(
            f"document {number}: {len(source)} sentences, but {len(target)} translations"
        )
    return Part(str(number), source=list(source), gold=list(target))
