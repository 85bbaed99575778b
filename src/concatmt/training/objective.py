"""The training objective: the discounted loss of a batch, and sums over batches.

All random numbers of a batch (dropout, dropped words, sampled context) are drawn after seeding with
the batch's own number. So a batch behaves the same in any process and after any
interruption.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor, nn

from concatmt.corpus.batch import Side, WindowBatch
from concatmt.model.loss import Loss, LossConfig, discount_weights, window_loss
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import END, UNK
from concatmt.training.config import TrainingConfig
from concatmt.training.tuning import freeze, trained


def seed_batch(seed: int, epoch: int, index: int) -> None:
    """Seed PyTorch for batch `index` of `epoch`, so that nothing depends on what came before."""
    torch.manual_seed(
        int(np.random.SeedSequence((seed, epoch, index)).generate_state(1, np.uint64)[0])
    )


class Objective(nn.Module):
    """The loss of a batch as a module, so that DDP and torch.compile can wrap it."""

    def __init__(self, model: Transformer, config: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.separator = freeze(model, config.tuning)
        self.loss: LossConfig = config.loss
        self.stochastic = config.discounting == "stochastic"
        self.coword_dropout = config.coword_dropout

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        """What is trained, by name."""
        return trained(self.model, self.separator)

    def forward(self, batch: WindowBatch) -> Loss:
        """The loss; in evaluation mode of all tokens, with the exact discount."""
        discount = self.model.config.system.context_discount
        if self.training and self.coword_dropout:
            batch = drop_current_words(batch, self.coword_dropout)
        sampled = self.training and self.stochastic and discount < 1
        if sampled:
            weights = sampled_weights(batch.target, discount)
        else:
            weights = discount_weights(batch.target, discount)
        hidden = self.model(batch)
        return window_loss(
            hidden,
            self.model.output.weight,
            batch.target,
            weights,
            self.loss,
            everything=not self.training,
            dense=discount > 0 and not sampled,
            bias=self.model.output.bias,
            fixed_padding=self.model.config.architecture.start == "zero",
            separator=None if self.separator is None else self.separator.output(),
        )


def sampled_weights(target: Side, discount: float) -> Tensor:
    """(B, T) weights whose expectation is the discount: a context token counts fully or not at all.

    Tokens that do not count get no logits: with a discount of 0.01 that is 99 in a hundred
    context tokens.
    """
    chosen = torch.rand(target.segments.shape, device=target.segments.device) < discount
    counts = (target.segments == 1) | (chosen & (target.segments > 1))
    return counts.to(torch.float32)


def drop_current_words(batch: WindowBatch, probability: float) -> WindowBatch:
    """CoWord dropout (Fernandes et al. 2021): words of the current source sentence become <unk>."""
    source = batch.source
    dropped = torch.rand(source.tokens.shape, device=source.tokens.device) < probability
    dropped &= (source.segments == 1) & (source.tokens != END)
    tokens = source.tokens.masked_fill(dropped, UNK)
    return WindowBatch(
        Side(tokens, source.lengths, source.segments, source.total), batch.target, batch.sentences
    )


@dataclass
class Totals:
    """Sums over batches, which can be added up over processes and time."""

    weighted: float = 0.0  # discounted, label-smoothed loss
    normaliser: float = 0.0
    current_loss: float = 0.0
    current_nll: float = 0.0
    current_tokens: float = 0.0
    context_loss: float = 0.0
    context_nll: float = 0.0
    context_tokens: float = 0.0
    real_tokens: float = 0.0  # of the target
    padded_tokens: float = 0.0  # of the target
    stop: float = 0.0  # how many processes have been asked to stop

    def to_tensor(self, device: torch.device) -> Tensor:
        """(11,) float64 in the order of the fields."""
        values = [getattr(self, field.name) for field in fields(self)]
        return torch.tensor(values, dtype=torch.float64, device=device)

    @classmethod
    def from_tensor(cls, values: Tensor) -> "Totals":
        """Read what `to_tensor` returned."""
        return cls(*values.tolist())

    def add(self, other: "Totals") -> None:
        """Add the sums of `other` to these."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    @property
    def discounted(self) -> float:
        """Discounted loss per unit of the normaliser."""
        return self.weighted / max(self.normaliser, 1.0)

    @property
    def undiscounted(self) -> float:
        """Label-smoothed loss per token of the window."""
        tokens = self.current_tokens + self.context_tokens
        return (self.current_loss + self.context_loss) / max(tokens, 1.0)

    @property
    def current(self) -> float:
        """Label-smoothed loss per token of the current sentence."""
        return self.current_loss / max(self.current_tokens, 1.0)

    @property
    def context(self) -> float:
        """Label-smoothed loss per context token."""
        return self.context_loss / max(self.context_tokens, 1.0)


def totals_of(losses: list[Loss], batches: list[WindowBatch]) -> Totals:
    """The sums over some batches, with a single transfer from the device."""
    rows = [
        torch.stack(
            [
                value.detach().to(torch.float64)
                for value in (
                    loss.total,
                    loss.normaliser,
                    loss.current.loss,
                    loss.current.nll,
                    loss.current.tokens,
                    loss.context.loss,
                    loss.context.nll,
                    loss.context.tokens,
                )
            ]
        )
        for loss in losses
    ]
    sums = torch.stack(rows).sum(dim=0).tolist() if rows else [0.0] * 8
    totals = Totals(*sums)
    totals.real_tokens = sum(batch.target.token_count for batch in batches)
    totals.padded_tokens = sum(batch.target.tokens.numel() for batch in batches)
    return totals
