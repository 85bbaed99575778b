"""The pilot of the miniature (docs/protocol.md): dials and rates on seeds that it does not use.

    python scripts/pilot.py FOLDER [--variants dense half] [--systems s4to4 ...] [--seeds 101]

Prints, for every run, the accuracy of each task at every stage. Two runs at a time; what is in
FOLDER is not run again.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from concatmt.experiments.one_run import Job, carry_out, make_data
from concatmt.experiments.results import Results, RunRecord
from concatmt.experiments.setting import SETTINGS, Setting

CORPUS_SEED = 101
SHAPE = {"scenes": 1, "around": 0, "valid_documents": 150, "test_documents": 100, "items": 150}
SHORT = (
    "training.tokens_per_update=1280",
    "training.batch.tokens=1280",
    "training.validate_every=125",
    "training.optimiser.warmup=200",
)
VARIANTS = {
    "dense": ({"documents": 20000, "density": 1.0}, 6e-3, (250, 500, 1000)),
    "half": ({"documents": 8000, "density": 0.5}, 6e-3, (250, 500, 1000)),
    "slow": ({"documents": 20000, "density": 1.0}, 3e-3, (250, 500, 1000)),
    "weighted": (
        {"documents": 20000, "density": 1.0, "weights": {"pron": 2, "vp": 2, "names": 2}},
        6e-3,
        (250, 500, 1000),
    ),
}


def variant(name: str) -> Setting:
    """A setting that differs from the miniature's in its dials, its rate and its seeds."""
    dials, rate, stages = VARIANTS[name]
    cooldown = f"training.optimiser.cooldown=[{7 * stages[-1] // 10},{stages[-1]}]"
    update = {
        "name": name,
        "dials": {"pair": "en-ru", "seed": CORPUS_SEED, **SHAPE, **dials},
        "overrides": (*SHORT, cooldown),
        "rates": (rate,),
        "stages": stages,
    }
    return SETTINGS["testbed-en-ru"].model_copy(update=update)


def run(name: str, system: str, seed: int, folder: Path) -> RunRecord | None:
    """One run, unless it is there."""
    setting, results = variant(name), Results(folder / "results" / name)
    found = [one for one in results.runs() if (one.system, one.seed) == (system, seed)]
    job = Job(setting, system, seed, setting.rates[0], folder / name)
    return found[0] if found else carry_out(job, results)


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variants", nargs="+", default=["dense", "half"], choices=VARIANTS)
    parser.add_argument("--systems", nargs="+", default=["s4to4", "s4to4+cd"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[101])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.variants:
        make_data(variant(name), arguments.folder / name)
    cases = [
        (name, system, seed)
        for seed in arguments.seeds
        for name in arguments.variants
        for system in arguments.systems
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run, *case, arguments.folder) for case in cases]
        for case, future in zip(cases, runs, strict=True):
            record = future.result()
            for stage in record.stages if record else ():
                shares = "  ".join(f"{t} {100 * a:.0f}" for t, a in stage.accuracy.items())
                print(*case, stage.update, f"loss {stage.valid_current:.4f}", shares, flush=True)
            if record:
                print(*case, f"BLEU {record.bleu:.1f}, {record.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
