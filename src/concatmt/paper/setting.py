"""The settings of the paper's comparison: its own corpora, and the testbed in miniature.

A setting says what is trained on what, how often, and which tables of the paper it answers. The
values of the miniature were chosen before its runs (docs/protocol.md). Does not run anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from concatmt.decoding.config import ContrastConfig
from concatmt.errors import UserError
from concatmt.evaluation.config import Convention
from concatmt.model.systems import parse_system
from concatmt.paper.printed import Paper
from concatmt.settings import Settings, nearest

HEADLINE = (
    "base",
    "s4to4",
    "s4to4+cd",
    "s4to4+cd+shift+pers",
    "s4to4+cd+lrn+pers",
    "s4to4+cd+sin+pers+pse",
    "s4to4+cd+1hot+pers+pse",
    "s4to4+cd+pers",
)


class Cost(Settings):
    """The cost of a run on the paper's data: training tokens (pairs), and pairs per second.

    After frontier estimates: the number of epochs until patience runs out is assumed.
    """

    pairs: float
    pairs_per_second: float = 220_000  # one A100, bf16

    @property
    def hours(self) -> float:
        """GPU hours."""
        return self.pairs / self.pairs_per_second / 3600


class Setting(Settings):
    """One place where systems are compared."""

    name: str
    title: str
    config: str  # a preset
    tables: tuple[str, ...]  # of the paper, that it answers
    overrides: tuple[str, ...] = ()
    dials: Mapping[str, Any] | None = None  # of the testbed; None: the user's own corpora
    rates: tuple[float, ...]
    # What the training of `base` changes from which all runs start; none: they start from scratch.
    start: tuple[str, ...] = ()
    seeds: int = 1
    headline_seeds: int = 1
    headline: tuple[str, ...] = HEADLINE  # systems with this many seeds
    stages: tuple[int, ...] = ()  # updates after which a run is scored; the last is its end
    stand_ins: Mapping[str, str] = {}  # the paper's system -> the one that fits the smaller model
    sets: tuple[str, ...] = ()  # contrastive files, in the folder of the corpora
    documents: str | None = None  # ContraPro's extracted subtitles, in the folder of the corpora
    convention: Convention = "sentence"  # of BLEU
    contrast: ContrastConfig = ContrastConfig()
    changes: tuple[str, ...] = ()  # given by `--set`
    cost: Cost | None = None

    def changed(self, changes: Sequence[str]) -> "Setting":
        """The setting with what `--set` says."""
        return self.model_copy(update={"changes": tuple(changes)})

    @property
    def lasting_changes(self) -> tuple[str, ...]:
        """The changes that affect figures; the place of the corpora does not."""
        return tuple(change for change in self.changes if not change.startswith("corpus.root="))

    def systems(self, paper: Paper) -> list[str]:
        """All systems of its tables, in the paper's order and notation."""
        names = [row for table in self.tables for row in paper.tables[table].rows]
        return [name for name in dict.fromkeys(names) if is_system(name)]

    def ours(self, system: str) -> str:
        """What is trained here for a system of the paper."""
        return self.stand_ins.get(system, system)

    def seeds_of(self, system: str, asked: int | None = None) -> Sequence[int]:
        """The seeds of a system."""
        usual = self.headline_seeds if system in self.headline else self.seeds
        return range(1, 1 + (usual if asked is None else asked))


def is_system(name: str) -> bool:
    """Whether a row of a table is a system that we have, not one of another paper."""
    try:
        parse_system(name)
    except UserError:
        return False
    return True


EN_RU = (
    "en-ru",
    "en-ru-cd",
    "en-ru-persistent-positions",
    "en-ru-pse-128",
    "en-ru-details",
    "benchmark-en-ru",
)
EN_DE = ("en-de-cd", "en-de-details")
EN_DE_HIGH = ("en-de-high-resource", "en-de-high-resource-details", "benchmark-en-de")
GRID = (7e-4, 9e-4, 1e-3, 3e-3)  # appendix B
VOITA = ("deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp")
# As ContraPro's own folder is after its script has extracted the subtitles, and with its rule.
CONTRAPRO: dict[str, Any] = {
    "sets": ("contrapro/contrapro.json",),
    "documents": "contrapro/documents",
    "convention": "paper-en-de",
    "contrast": ContrastConfig(ties="wrong"),
}
# A quarter of the dimensions, as 128 of 512.
QUARTER = {
    "s4to4+cd+lrn+pse128": "s4to4+cd+lrn+pse16",
    "s4to4+cd+lrn+pers+pse128": "s4to4+cd+lrn+pers+pse16",
}

# A quarter as well, of 256 dimensions.
QUARTER_OF_256 = {paper: ours.replace("pse16", "pse64") for paper, ours in QUARTER.items()}

# The miniature, as the pilot left it (docs/protocol.md).
DIALS = {
    "seed": 11,
    "documents": 20_000,
    "density": 1.0,
    "scenes": 1,
    "around": 0,
    "length": 0.3,
    "valid_documents": 150,
    "test_documents": 100,
    "items": 150,
}
FAVOURED = ("pron", "vp", "recent", "ordinal", "tv", "spk", "case")
STAGES = (600, 1200, 2400)
SHORT = (
    "training.tokens_per_update=640",
    "training.batch.tokens=640",
    "training.validate_every=300",
    "training.optimiser.warmup=480",
    "training.optimiser.cooldown=[1680,2400]",
    "training.max_updates=2400",
)

# Of the shared start on real dialogue (docs/protocol-real.md).
SHARED_START = (
    "training.optimiser.learning_rate=2e-3",
    "training.optimiser.warmup=500",
    "training.optimiser.cooldown=[24000,32000]",
    "training.max_updates=32000",
    "training.validate_every=1000",
    "training.checkpoint_every=200",
)


def _dials(pair: str, favoured: Sequence[str]) -> dict[str, Any]:
    return {"pair": pair, **DIALS, "weights": dict.fromkeys(favoured, 2)}


def _german(split: str) -> str:
    files = f"source: {split}.en, target: {split}.de"
    return f"corpus.splits.{split}=[{{format: text, {files}}}]"


SETTINGS = {
    place.name: place
    for place in (
        Setting(
            name="testbed-en-ru",
            title="the discourse testbed, English-Russian",
            config="miniature",
            tables=EN_RU,
            overrides=SHORT,
            dials=_dials("en-ru", FAVOURED),
            rates=(4e-3,),
            stages=STAGES,
            seeds=3,
            headline_seeds=5,
            stand_ins=QUARTER,
        ),
        Setting(
            name="testbed-en-de",
            title="the discourse testbed, English-German",
            config="miniature",
            tables=EN_DE,
            overrides=(
                *SHORT,
                "languages.target=de",
                *map(_german, ("train", "valid", "test")),
            ),
            dials=_dials("en-de", [task for task in FAVOURED if task != "spk"]),
            rates=(4e-3,),
            stages=STAGES,
            seeds=3,
            headline_seeds=3,
        ),
        Setting(
            name="en-ru-dialogue",
            title="real English-Russian dialogue, from a shared start",
            config="en-ru-dialogue",
            tables=EN_RU,
            start=SHARED_START,
            rates=(1e-3,),
            stages=(600, 1200),
            headline_seeds=3,
            headline=(*HEADLINE[:5],),
            stand_ins=QUARTER_OF_256,
            sets=tuple(f"voita/{name}.json" for name in VOITA),
            convention="paper-en-ru",
            contrast=ContrastConfig(ties="first"),  # Voita's rule
        ),
        Setting(
            name="en-ru-opensubtitles",
            title="the paper's English-Russian subtitles",
            config="en-ru-opensubtitles",
            tables=EN_RU,
            rates=GRID,
            sets=tuple(f"consistency_testsets/{name}.json" for name in VOITA),
            convention="paper-en-ru",
            contrast=ContrastConfig(ties="first"),  # Voita's rule
            cost=Cost(pairs=5.0e9),
        ),
        Setting(
            name="en-de-iwslt17",
            title="the paper's English-German talks",
            config="en-de-iwslt17",
            tables=EN_DE,
            rates=GRID,
            **CONTRAPRO,
            cost=Cost(pairs=0.8e9),
        ),
        Setting(
            name="en-de-high-resource",
            title="the paper's English-German talks, debates and news",
            config="en-de-high-resource",
            tables=EN_DE_HIGH,
            rates=GRID,
            **CONTRAPRO,
            cost=Cost(pairs=5.5e9),
        ),
    )
}


def setting(name: str) -> Setting:
    """The setting with this name."""
    if name not in SETTINGS:
        hint = nearest(name, list(SETTINGS)) or f"; known are {', '.join(SETTINGS)}"
        raise UserError(f"--setting {name}: unknown setting{hint}")
    return SETTINGS[name]
