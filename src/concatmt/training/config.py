"""Settings of training; the defaults are the paper's recipe (appendix B)."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from concatmt.corpus.batches import BatchConfig
from concatmt.model.loss import LossConfig
from concatmt.settings import Settings

Beta = Annotated[float, Field(ge=0, lt=1)]


class OptimiserConfig(Settings):
    """Adam with a linear warm-up and decay by the inverse square root of the update."""

    method: Literal["adam", "muon"] = "adam"  # muon: for the matrices of the blocks alone
    learning_rate: float = Field(default=1e-3, gt=0)  # the peak, reached after the warm-up
    betas: tuple[Beta, Beta] = (0.9, 0.98)
    epsilon: float = Field(default=1e-8, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    muon_momentum: float = Field(default=0.95, ge=0, lt=1)
    warmup: int = Field(default=4000, ge=0)
    warmup_from: float = Field(default=1e-7, ge=0)
    cooldown: tuple[int, int] | None = None  # between these updates the rate falls to zero
    clip_norm: float = Field(default=25.0, ge=0)  # 0: no clipping

    @model_validator(mode="after")
    def _check(self) -> "OptimiserConfig":
        if self.cooldown is not None and not 0 <= self.cooldown[0] < self.cooldown[1]:
            raise ValueError(f"cooldown {list(self.cooldown)}: must be [first, last], first < last")
        return self


class TuningConfig(Settings):
    """Which parts of a pretrained model to train, and how its separator starts."""

    # `separator`: only the rows of the separator; the rest of the matrix is frozen, gets no
    # gradient and has no place in the optimiser.
    embeddings: Literal["all", "separator", "none"] = "all"
    encoder_layers: int | None = Field(default=None, ge=0)  # this many from the top; None: all
    decoder_layers: int | None = Field(default=None, ge=0)
    # If the model knows single sentences only: the mean of all symbols, or a copy of the end of a
    # sentence. As a copy it makes the decoder believe that all is said (docs/pretrained.md).
    separator: Literal["mean", "copy"] = "mean"


class SamplesConfig(Settings):
    """Documents of the validation split that every validation translates."""

    documents: int = Field(default=0, ge=0)  # spread over the split; 0: none
    beam: int = Field(default=1, ge=1)
    show: int = Field(default=3, ge=0)  # sentences to print


class TrainingConfig(Settings):
    """Length of the training, size of updates, what is measured, what is kept."""

    optimiser: OptimiserConfig = OptimiserConfig()
    loss: LossConfig = LossConfig()
    # Padded tokens of an update, on the longer side, over all devices. Batches of at most
    # `batch.tokens` are accumulated to fill it.
    tokens_per_update: int = Field(default=32_000, ge=1)
    batch: BatchConfig = BatchConfig()
    validate_every: Annotated[int, Field(ge=1)] | Literal["epoch"] = "epoch"  # in updates
    stop_metric: Literal["discounted", "undiscounted", "current"] = "discounted"
    patience: int = Field(default=12, ge=1)  # validations without improvement
    max_epochs: int | None = Field(default=None, ge=1)
    max_updates: int | None = Field(default=None, ge=1)
    average: int = Field(default=5, ge=1)  # the best checkpoint and those that follow it
    checkpoint_every: int | None = Field(default=None, ge=1)  # in updates, beside validations
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    compile: bool = False
    device: Literal["auto", "cpu", "cuda"] = "auto"
    discounting: Literal["exact", "stochastic"] = "exact"  # docs/training.md
    coword_dropout: float = Field(default=0.0, ge=0, lt=1)  # of current source words, to <unk>
    warm_start: Path | None = None  # a model directory
    tuning: TuningConfig = TuningConfig()
    # About how many windows a validation measures; None: all.
    validation_windows: int | None = Field(default=None, ge=1)
    # Also without context, to see whether single sentences are forgotten.
    validate_sentences: bool = False
    samples: SamplesConfig = SamplesConfig()
    log_every: int = Field(default=50, ge=1)  # updates per line of metrics.jsonl
    log_seconds: float = Field(default=20.0, gt=0)  # or this long after the last line
    track: tuple[str, ...] = ()  # beside metrics.jsonl: tensorboard, wandb, mlflow, or a plug-in's

    @model_validator(mode="after")
    def _check(self) -> "TrainingConfig":
        cooldown = self.optimiser.cooldown
        if cooldown and (self.max_updates is None or self.max_updates > cooldown[1]):
            raise ValueError(
                f"max_updates must not be more than {cooldown[1]}, where optimiser.cooldown ends:"
                " the rate is zero from there on"
            )
        return self
