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
from concatmt.errors import UserError
from concatmt.evaluation.answers import read_records
from concatmt.evaluation.config import EvaluateConfig
from concatmt.evaluation.measures.quality import score
from concatmt.evaluation.models import ModelMember, find_model
from concatmt.evaluation.suite import Suite
from concatmt.files import hash_file, read_json, write_json
from concatmt.model.directory import WEIGHTS, load_model
from concatmt.model.systems import parse_system
from concatmt.paper.material import (
    START,
    STORE,
    TESTBED,
    config_of,
    context_counts,
    contrastive_sets,
    suite,
)
from concatmt.paper.results import Results, RunRecord, Stage
from concatmt.paper.setting import Setting
from concatmt.signature import Signature
from concatmt.testbed.corpus import write_testbed
from concatmt.testbed.dials import parse_dials
from concatmt.training.run import METRICS, Run
from concatmt.training.train import Task, train

DECODING = TranslateConfig(mode="redecode")  # the paper's
START_SEED = 1
EVALUATION = "evaluation"  # in the folder of a run: what its model did


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

    def member(self) -> ModelMember:
        """Its model, to be evaluated as the paper does."""
        config = EvaluateConfig(contrast=self.setting.contrast, translate=DECODING)
        return ModelMember(find_model(self.folder), self.system, config, self.folder / EVALUATION)

    def task(self, updates: int | None) -> Task:
        """What to train, up to a number of updates."""
        config = self.config()
        changes: dict[str, Any] = {
            "optimiser": config.training.optimiser.model_copy(update={"learning_rate": self.rate})
        }
        if updates is not None:
            changes["max_updates"] = updates
        if self.setting.start:
            changes["warm_start"] = Run(self.work / START).model
        training = config.training.model_copy(update=changes)
        return Task(self.work / STORE, parse_system(self.system), config.model, training, self.seed)


def make_data(setting: Setting, work: Path) -> None:
    """The corpus, if it is generated, and the store, unless they are there."""
    if setting.dials is not None and not (work / TESTBED / "card.json").is_file():
        write_testbed(parse_dials(**setting.dials), work / TESTBED)
    if not (work / STORE / "manifest.json").is_file():
        corpus, text = config_of(setting, work).to_prepare()
        prepare(corpus, text, work / STORE)


def make_start(setting: Setting, work: Path) -> bool:
    """Train the model from which all runs start, if they share one; False if it was stopped.

    It goes on where it was interrupted. Another process that does the same is an error.
    """
    if not setting.start or Run(work / START).model.is_dir():
        return True
    config = config_of(setting, work, setting.start)
    task = Task(work / STORE, parse_system("base"), config.model, config.training, START_SEED)
    return train(task, work / START)


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
    on = suite(job.setting, job.work)
    model = job.member()
    signature, items = _answers(model, on)
    stages.append(_stage(job.folder, items))
    translations = model.translate(on.texts[0])
    references = on.texts[0].references
    [bleu] = score(translations.text, references, job.setting.convention)[:1]
    unit = "|unit:sentence"  # what BLEU is taken to be of where nothing else is said
    record = RunRecord(
        system=job.system,
        seed=job.seed,
        rate=job.rate,
        signature={**signature.values, **_data_signature(job, on)},
        parameters=sum(p.numel() for p in load_model(Run(job.folder).model).parameters()),
        stages=tuple(stages),
        bleu=bleu.value,
        bleu_signature=f"{bleu.signature.removesuffix(unit)}; {translations.signature}",
        seconds=time.monotonic() - start,
        command=job.command,
    )
    results.add_references(references.documents)
    results.add(record, items, translations.text.documents)
    return record


def _earlier_stage(job: Job, updates: int | None) -> Stage | None:
    """Train up to a stage and score it, unless that was done before the run was interrupted."""
    path = job.folder / f"stage-{updates}.json"
    if path.is_file():
        return Stage.model_validate(read_json(path, "stage of a run"))
    if not train(job.task(updates), job.folder):
        return None
    on = Suite(sets=tuple(contrastive_sets(job.setting, job.work)))
    stage = _stage(job.folder, _answers(job.member(), on)[1])
    write_json(path, stage.model_dump(mode="json"))
    return stage


def _answers(model: ModelMember, on: Suite) -> tuple[Signature, list[dict[str, Any]]]:
    """What a model says to the contrastive sets: every item with its verdict and scores."""
    records, signature = [], Signature({})
    for test in on.sets:
        if test.content is not None and test.content.remark:
            print(f"note: {test.name}: {test.content.remark}", file=sys.stderr)
        file = model.contrast(test)
        signature = file.signature
        records += read_records(Path(file.path))
    return signature, records


def _stage(folder: Path, items: list[dict[str, Any]]) -> Stage:
    """Where the run stands: its last validation, and the share of right items by phenomenon."""
    validations = [record for record in Run(folder).metrics() if record["kind"] == "valid"]
    if not validations:
        raise UserError(f"{folder / METRICS}: damaged: it has no validations")
    last = validations[-1]
    right = defaultdict(list)
    for item in items:
        right[item["phenomenon"]].append(item["verdict"])
    return Stage(
        update=last["update"],
        valid_current=last["current"],
        valid_context=last.get("context"),
        accuracy={name: sum(found) / len(found) for name, found in right.items()},
    )


def _data_signature(job: Job, on: Suite) -> dict[str, str | int]:
    settings = Run(job.folder).description()["settings"]
    signature = {"setting": job.setting.name, "data": settings["data"][:12], "seed": job.seed}
    if job.setting.start:
        weights = Run(job.work / START).model / WEIGHTS
        signature["start"] = hash_file(weights)[:12]
    if job.setting.dials is None:
        signature["context"] = context_counts(on.sets)
    if job.setting.lasting_changes:
        signature["set"] = " ".join(job.setting.lasting_changes)
    return signature
