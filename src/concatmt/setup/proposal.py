"""Chooses system, text, model and recipe for a corpus and hardware, each with its reason.

The thresholds are rules of thumb, stated in the reasons that go with them; a pilot on the user's
own data decides better. Does not read files.
"""

from dataclasses import dataclass
from typing import Any

from concatmt.setup.hardware import Hardware

SENTENCES = 4  # K, the sentences of a window
CONTEXT = 2.0  # sentences per document on average; with fewer, context cannot be learnt
UPDATES = (200, 200_000)  # minimum, maximum
WARMUP_SHARE, COOLDOWN_SHARE = 0.05, 0.3
VALIDATIONS = 20
GPU_MEMORY = 16e9  # at least this for a model of the paper's size with large batches


@dataclass(frozen=True, slots=True)
class Amount:
    """Size of a corpus."""

    documents: int
    sentences: int
    words: int  # in the target language

    @property
    def length(self) -> float:
        """Sentences per document."""
        return self.sentences / max(self.documents, 1)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed settings and the reasons for them."""

    system: str
    tree: dict[str, Any]  # text, model and training
    reasons: dict[str, str]  # key of the tree, or `system` -> sentence
    epochs: float  # that training should take
    smallest: bool = False  # there is no smaller model to propose


# Target words at least; dimensions, layers of each side, heads, feed-forward.
MODELS = (
    (0, "tiny", (64, 2, 4, 256)),
    (400_000, "mini", (128, 2, 4, 512)),
    (3_000_000, "small", (256, 3, 4, 1024)),
    (30_000_000, "base", (512, 6, 8, 2048)),
)
FEWEST_PASSES = 2  # over the text in the time there is; with fewer a smaller model learns more
# Sentences at least; size of the vocabulary.
VOCABULARIES = ((0, 2_000), (30_000, 4_000), (150_000, 8_000), (1_000_000, 16_000))
# Target words at least; passes over the text, dropout.
PASSES = ((0, 30, 0.3), (1_000_000, 15, 0.2), (10_000_000, 8, 0.1))


def propose(
    amount: Amount, hardware: Hardware, documents_known: bool, smaller: int = 0
) -> Proposal:
    """Propose settings; `documents_known` says whether the corpus marks where documents begin.

    `smaller`: so many sizes below the one that the text would be enough for.
    """
    reasons: dict[str, str] = {}
    system = _system(amount, documents_known, reasons)
    gpu = bool(hardware.gpus)
    place = MODELS.index(_last(MODELS, amount.words))
    reason = f"{amount.words:,} words of the target language"
    if MODELS[place][1] == "base" and not gpu:
        place -= 1
        reason = "there is enough text for base, but no GPU to train it on"
    if smaller:
        place = max(0, place - smaller)
        reason = f"a larger one would see the text less than {FEWEST_PASSES} times in --hours"
    _, size, (dim, layers, heads, feed_forward) = MODELS[place]
    reasons["model"] = f"{size}: {reason}"
    _, vocabulary = _last(VOCABULARIES, amount.sentences)
    reasons["text"] = f"{amount.sentences:,} sentences: more pieces would be too rare to learn"
    _, epochs, dropout = _last(PASSES, amount.words)
    tokens = 16_000 if gpu else 2_048
    reasons["training"] = (
        f"about {epochs} passes over the text with dropout {dropout}: the less text, the more"
        " often it is seen and the higher the dropout; Muon needs about half of Adam's updates"
    )
    stack = {"layers": layers, "heads": heads, "feed_forward": feed_forward}
    training: dict[str, Any] = {
        "tokens_per_update": tokens,
        "batch": {"tokens": min(tokens, 8_000), "too_long": "skip"},
        "optimiser": {"method": "muon", "learning_rate": 2e-3, "clip_norm": 1},
        "stop_metric": "current",
        "log_every": 10,
    }
    if "cd" in system:
        training["discounting"] = "stochastic"
    if gpu:
        training["precision"] = "bf16"
        reasons["training"] += f"; bf16 and large batches on {hardware.gpus[0].name}"
    tree = {
        "text": {"kind": "sentencepiece", "size": vocabulary},
        "model": {
            "dim": dim,
            "encoder": stack,
            "decoder": stack,
            "norm": "pre",
            "dropout": dropout,
        },
        "training": training,
    }
    return Proposal(system, tree, reasons, float(epochs), smallest=place == 0)


def _system(amount: Amount, documents_known: bool, reasons: dict[str, str]) -> str:
    if not documents_known:
        reasons["system"] = "base: nothing says where documents begin, so there is no context"
        return "base"
    if amount.length < CONTEXT:
        reasons["system"] = f"base: documents have {amount.length:.1f} sentences on average"
        return "base"
    reasons["system"] = (
        f"s{SENTENCES}to{SENTENCES}+cd: {amount.documents:,} documents of {amount.length:.0f}"
        " sentences on average; context discount makes the current sentence count most"
    )
    return f"s{SENTENCES}to{SENTENCES}+cd"


def with_length(
    proposal: Proposal, tokens_an_epoch: float, speed: float, hours: float
) -> tuple[dict[str, Any], float, float]:
    """The settings with as many updates as are useful and `hours` allow; their epochs and seconds.

    `tokens_an_epoch` and `speed` count real target tokens.
    """
    wished = tokens_an_epoch * proposal.epochs
    tokens = min(wished, speed * hours * 3600)
    training = dict(proposal.tree["training"])
    # The budget of an update is in *padded* tokens; about a tenth of them is padding.
    updates = round(tokens / (0.9 * training["tokens_per_update"]))
    updates = max(UPDATES[0], min(UPDATES[1], updates))
    cooldown = [round(updates * (1 - COOLDOWN_SHARE)), updates]
    warmup = max(10, round(updates * WARMUP_SHARE))
    training["optimiser"] = {**training["optimiser"], "warmup": warmup, "cooldown": cooldown}
    training["max_updates"] = updates
    training["validate_every"] = max(10, updates // VALIDATIONS)
    tokens = updates * 0.9 * training["tokens_per_update"]
    tree = {**proposal.tree, "training": training}
    return tree, tokens / tokens_an_epoch, tokens / speed


def _last(table: tuple[Any, ...], amount: float) -> Any:
    """The last row whose threshold is reached."""
    return [row for row in table if amount >= row[0]][-1]
