"""The pilot of the miniature (docs/protocol.md): dials and rates on seeds that it does not use.

    python scripts/pilot.py FOLDER [--variants dense half] [--systems s4to4 ...] [--seeds 101]

Prints, for every run, the accuracy of each task at every stage. Two runs at a time; what is in
FOLDER is not run again.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from concatmt.paper.results import Results, RunRecord
from concatmt.paper.run import Job, carry_out, make_data
from concatmt.paper.setting import SETTINGS, Setting

CORPUS_SEED = 101
SHAPE = {"scenes": 1, "around": 0, "valid_documents": 150, "test_documents": 100, "items": 150}
FAVOURED = dict.fromkeys(("pron", "vp", "recent", "ordinal", "tv", "spk", "case"), 2)
DENSE = {"documents": 20000, "density": 1.0}
SHORT = {**DENSE, "length": 0.3, "weights": FAVOURED}
# Dials, tokens an update, rate, updates.
VARIANTS: dict[str, tuple[dict[str, Any], int, float, int]] = {
    "dense": (DENSE, 1280, 6e-3, 1000),
    "half": ({"documents": 8000, "density": 0.5}, 1280, 6e-3, 1000),
    "short": (SHORT, 1280, 6e-3, 1400),
    "short-640": (SHORT, 640, 4e-3, 2400),
    "short-640-fast": (SHORT, 640, 6e-3, 2400),
    "short-320": (SHORT, 320, 4e-3, 3600),
}


def variant(name: str) -> Setting:
    """A setting that differs from the miniature's in its dials, its rate and its seeds."""
    dials, tokens, rate, end = VARIANTS[name]
    overrides = (
        f"training.tokens_per_update={tokens}",
        f"training.batch.tokens={tokens}",
        f"training.validate_every={end // 8}",
        f"training.optimiser.warmup={end // 5}",
        f"training.max_updates={end}",
        f"training.optimiser.cooldown=[{7 * end // 10},{end}]",
    )
    update = {
        "name": name,
        "dials": {"pair": "en-ru", "seed": CORPUS_SEED, **SHAPE, **dials},
        "overrides": overrides,
        "rates": (rate,),
        "stages": (end // 4, end // 2, end),
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
