"""One run of a setting from its data to its line of results: train, score, translate.

Training stops at every stage of the learning curve, is scored, and goes on: a run that is resumed
is the same to the bit. Knows the setting; does not know which runs there are.
"""

import shlex
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concatmt.config import Config
from concatmt.corpus.prepare import prepare
from concatmt.decoding.config import TranslateConfig
from concatmt.decoding.contrast import Contrast
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.translator import Translator
from concatmt.evaluation.items import answer_set, item_record
from concatmt.evaluation.quality import Convention, Translated, bleu, lines
from concatmt.evaluation.sets import ContrastiveSet
from concatmt.experiments.material import (
    STORE,
    TESTBED,
    config_of,
    context_counts,
    contrastive_sets,
    test_documents,
)
from concatmt.experiments.results import Results, RunRecord, Stage
from concatmt.experiments.setting import Setting
from concatmt.files import read_json, write_json
from concatmt.model.directory import load_model
from concatmt.model.systems import parse_system
from concatmt.progress import progress
from concatmt.testbed.corpus import write_testbed
from concatmt.testbed.dials import parse_dials
from concatmt.training.run import Run
from concatmt.training.train import Task, train

DECODING = TranslateConfig(mode="redecode")  # the paper's


@dataclass(frozen=True, slots=True)
class Job:
    """What one run is of."""

    setting: Setting
    system: str
    seed: int
    rate: float
    work: Path  # folder of the setting for data and runs

    @property
    def folder(self) -> Path:
        """Of the run."""
        return self.work / "runs" / self.system / f"rate{self.rate:g}-seed{self.seed}"

    @property
    def command(self) -> str:
        """What does the run, wherever data and results are."""
        words = ["concatmt", "paper", "run", "--setting", self.setting.name]
        words += ["--system", self.system, "--seed", str(self.seed), "--rate", f"{self.rate:g}"]
        for change in self.setting.lasting_changes:
            words += ["--set", change]
        return shlex.join(words)

    def config(self) -> Config:
        """The preset with the setting's overrides."""
        return config_of(self.setting, self.work)

    def task(self, updates: int | None) -> Task:
        """Training up to so many updates."""
        config = self.config()
        changes: dict[str, Any] = {
            "optimiser": config.training.optimiser.model_copy(update={"learning_rate": self.rate})
        }
        if updates is not None:
            changes["max_updates"] = updates
        training = config.training.model_copy(update=changes)
        return Task(self.work / STORE, parse_system(self.system), config.model, training, self.seed)


def make_data(setting: Setting, work: Path) -> None:
    """The corpus, if it is generated, and the store, unless they are there."""
    if setting.dials is not None and not (work / TESTBED / "card.json").is_file():
        write_testbed(parse_dials(**setting.dials), work / TESTBED)
    if not (work / STORE / "manifest.json").is_file():
        corpus, text = config_of(setting, work).to_prepare()
        prepare(corpus, text, work / STORE)


def carry_out(job: Job, results: Results) -> RunRecord | None:
    """Do all of it and write the results; None if it was asked to stop before the end."""
    start = time.monotonic()
    stages = []
    *earlier, last = job.setting.stages or (None,)
    for updates in earlier:
        stage = _earlier_stage(job, updates)
        if stage is None:
            return None
        stages.append(stage)
    if not train(job.task(last), job.folder):
        return None
    model, contrast, items = _scored(job)
    stages.append(_stage(job.folder, items))
    translator = Translator(model.engine, model.text, DECODING, identity=model.identity)
    documents = test_documents(job.setting, job.work)
    translated = [
        [one.text for one in of_document]
        for of_document in translator.translate_documents([d.source for d in documents])
    ]
    references = [list(document.target) for document in documents]
    quality, quality_signature = _bleu(translated, references, job.setting.convention)
    record = RunRecord(
        system=job.system,
        seed=job.seed,
        rate=job.rate,
        signature={**contrast.signature.values, **_data_signature(job)},
        parameters=sum(p.numel() for p in load_model(Run(job.folder).model).parameters()),
        stages=tuple(stages),
        bleu=quality,
        bleu_signature=f"{quality_signature}; {translator.signature}",
        seconds=time.monotonic() - start,
        command=job.command,
    )
    results.add_references(references)
    results.add(record, items, translated)
    return record


def _earlier_stage(job: Job, updates: int | None) -> Stage | None:
    """Train up to a stage and score it, unless that was done before the run was interrupted."""
    path = job.folder / f"stage-{updates}.json"
    if path.is_file():
        return Stage.model_validate(read_json(path, "stage of a run"))
    if not train(job.task(updates), job.folder):
        return None
    stage = _stage(job.folder, _scored(job)[2])
    write_json(path, stage.model_dump(mode="json"))
    return stage


def _scored(job: Job) -> tuple[LoadedModel, Contrast, list[dict[str, Any]]]:
    """The run's model as it is, and what it says to the contrastive sets."""
    model = LoadedModel.load(Run(job.folder).model)
    contrast = Contrast(model, job.setting.contrast)
    return model, contrast, score(contrast, contrastive_sets(job.setting, job.work))


def score(contrast: Contrast, sets: list[ContrastiveSet]) -> list[dict[str, Any]]:
    """Every item of the sets, with the model's verdict and scores."""
    records = []
    for one in sets:
        if one.remark:
            print(f"note: {one.name}: {one.remark}", file=sys.stderr)
        with progress(f"contrast {one.name}", len(one.items)) as bar:
            answers = answer_set(contrast, one, bar)
        records += [item_record(item, said) for item, said in zip(one.items, answers, strict=True)]
    return records


def _bleu(
    translated: list[list[str]], references: list[list[str]], convention: Convention
) -> tuple[float, str]:
    """BLEU under a convention, and its signature."""
    ours, theirs = (
        lines(Translated(tuple(map(tuple, documents))), convention)
        for documents in (translated, references)
    )
    metric = bleu(convention)
    value = metric.corpus_score(ours, [theirs]).score
    unit = "" if convention == "sentence" else f"|unit:{convention}"
    return value, f"{metric.get_signature()}{unit}"


def _stage(folder: Path, items: list[dict[str, Any]]) -> Stage:
    """Where the run stands: its last validation, and the share of right items by phenomenon."""
    last = [record for record in Run(folder).metrics() if record["kind"] == "valid"][-1]
    right = defaultdict(list)
    for item in items:
        right[item["phenomenon"]].append(item["verdict"])
    return Stage(
        update=last["update"],
        valid_current=last["current"],
        valid_context=last.get("context"),
        accuracy={name: sum(found) / len(found) for name, found in right.items()},
    )


def _data_signature(job: Job) -> dict[str, str | int]:
    settings = Run(job.folder).description()["settings"]
    found = {"setting": job.setting.name, "data": settings["data"][:12], "seed": job.seed}
    if job.setting.dials is None:
        found["context"] = context_counts(contrastive_sets(job.setting, job.work))
    if job.setting.lasting_changes:
        found["set"] = " ".join(job.setting.lasting_changes)
    return found
