"""Label-smoothed cross-entropy with context discount, fused with the output projection.

Only tokens that count get logits: no padding, and no context tokens that the discount drops. They
are computed in chunks, and their gradients in the same pass, so no logits are kept for the backward
pass. Does not know models or optimisers.

Shapes: B windows, T target tokens, D model dimension, V vocabulary, N tokens that get logits.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.autograd.function import once_differentiable

from concatmt.corpus.batch import Side
from concatmt.model import products
from concatmt.settings import Settings
from concatmt.text.vocabulary import PAD, SEPARATOR

CHUNK_ELEMENTS = 1 << 23  # logits at a time: 32 MB in float32
CACHED_ELEMENTS = 1 << 18  # of those, as many as stay in a core's cache between passes


class LossConfig(Settings):
    """How token losses are smoothed and what their sum is divided by."""

    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.1
    # `tokens`: all target tokens, as the authors do; `weights`: the sum of the tokens' weights.
    normaliser: Literal["tokens", "weights"] = "tokens"


@dataclass(frozen=True, slots=True)
class Projection:
    """The output layer, from hidden states to logits."""

    weight: Tensor  # (V, D)
    bias: Tensor | None = None  # (V,)
    fixed_padding: bool = False  # whether the row of padding is frozen
    # (D + 1,) the separator's row and bias, where the rest of a frozen layer is not trained.
    separator: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Unweighted sums over some of the tokens; scalars without gradient."""

    loss: Tensor  # label-smoothed
    nll: Tensor  # negative log-likelihood in nats
    tokens: Tensor  # how many tokens the sums are over


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a batch. Sums, so that batches and processes can be added up."""

    total: Tensor  # weighted sum of label-smoothed token losses, with gradient
    normaliser: Tensor  # to divide it by, after adding up
    current: Part
    context: Part  # of the context tokens that got logits, so none with weight 0

    @property
    def mean(self) -> Tensor:
        """The loss per unit of the normaliser, with gradient."""
        return self.total / self.normaliser


def discount_weights(target: Side, discount: float) -> Tensor:
    """(B, T) float32: 1 for the current sentence with `<end>`, 0 for padding, else `discount`.

    The separator that closes a context sentence belongs to the context.
    """
    weights = torch.full(target.segments.shape, discount, device=target.segments.device)
    return weights.masked_fill_(target.segments == 1, 1.0).masked_fill_(target.segments == 0, 0.0)


def window_loss(
    hidden: Tensor,
    output: Tensor,
    target: Side,
    weights: Tensor,
    config: LossConfig,
    everything: bool = False,
    dense: bool = False,
    bias: Tensor | None = None,
    fixed_padding: bool = False,
    separator: Tensor | None = None,
) -> Loss:
    """The loss of `target` under the model's hidden states.

    hidden: (B, T, D); output: (V, D), the projection's weight; bias: (V,), the projection's, if it
    has one; weights: (B, T) from `discount_weights`, or any others that are 0 on padding. Tokens of
    weight 0 get no logits, unless `everything` asks for their (unweighted) losses too, as in
    validation. `dense`: no real token has weight 0, so that the device need not report how many
    count. `fixed_padding`: the row of padding gets no gradient, as it is the zero vector that
    a decoder starts with. A frozen `output` costs no gradient; `separator` (D + 1,) gets that of
    its row for the separator, and of its bias.
    """
    wanted = target.mask if everything else weights > 0
    rows = _places(wanted, target.token_count if dense or everything else None)
    total, losses, nll = _fused_loss(
        hidden,
        Projection(output, bias, fixed_padding, separator),
        target,
        rows,
        weights,
        config.label_smoothing,
        torch.is_grad_enabled(),
    )
    current = target.segments.flatten()[rows] == 1
    normaliser = weights.sum() if config.normaliser == "weights" else target.lengths.sum()
    return Loss(
        total,
        normaliser.to(torch.float32),
        _part(losses, nll, current),
        _part(losses, nll, ~current),
    )


def target_log_probs(
    hidden: Tensor, output: Tensor, target: Side, bias: Tensor | None = None
) -> Tensor:
    """(B, T) float32 log-probabilities of the target's tokens, 0 on padding; no gradient."""
    rows = _places(target.mask, target.token_count)
    weights = target.mask.to(torch.float32)
    projection = Projection(output, bias)
    _, _, nll = _fused_loss(hidden, projection, target, rows, weights, 0.0, with_gradient=False)
    log_probs = nll.new_zeros(target.tokens.numel())
    log_probs[rows] = -nll
    return log_probs.view(target.tokens.shape)


def _fused_loss(
    hidden: Tensor,
    output: Projection,
    target: Side,
    rows: Tensor,
    weights: Tensor,
    smoothing: float,
    with_gradient: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """The weighted sum, and loss and nll (N,) of the tokens in `rows` of the flattened batch."""
    with torch.set_grad_enabled(with_gradient):
        sums: tuple[Tensor, Tensor, Tensor] = _FusedLoss.apply(  # type: ignore[no-untyped-call]
            hidden.flatten(0, 1),
            output.weight,
            output.bias,
            output.fixed_padding,
            output.separator,
            rows,
            target.tokens.flatten()[rows],
            weights.flatten()[rows],
            smoothing,
            with_gradient,
        )
    return sums


def _places(wanted: Tensor, count: int | None) -> Tensor:
    """(N,) where a bool tensor is true, in its flat form; `count` of them, if that is known."""
    if count is None or wanted.device.type == "cpu":
        return wanted.flatten().nonzero().squeeze(1)
    return torch.nonzero_static(wanted.flatten(), size=count).squeeze(1)


def _part(losses: Tensor, nll: Tensor, selected: Tensor) -> Part:
    of_losses, of_nll = (torch.where(selected, values, 0).sum() for values in (losses, nll))
    return Part(of_losses, of_nll, selected.sum())


class _FusedLoss(torch.autograd.Function):
    """hidden (R, D), output (V, D), bias (V,) -> weighted sum, token losses and nll (N,).

    `rows` (N,) are the rows of hidden that count. The gradients are computed with the logits of
    each chunk and kept, unscaled, for the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        output: Tensor,
        bias: Tensor | None,
        fixed_padding: bool,
        separator: Tensor | None,
        rows: Tensor,
        targets: Tensor,
        weights: Tensor,
        smoothing: float,
        with_gradient: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        device = hidden.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
        matrix = output if dtype is None else output.to(dtype)
        losses = torch.empty(len(rows), dtype=torch.float32, device=hidden.device)
        nll = torch.empty_like(losses)
        grad_hidden = torch.zeros_like(hidden, dtype=torch.float32) if with_gradient else None
        grad_output, grad_bias, grad_separator = (
            torch.zeros_like(x, dtype=torch.float32)
            if x is not None and x.requires_grad and with_gradient
            else None
            for x in (output, bias, separator)
        )
        step = max(64, CHUNK_ELEMENTS // len(output))
        with torch.autocast(device, enabled=False):
            multiply = _Products(matrix, min(step, len(rows)), grad_output)
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                inputs = hidden[rows[part]].to(matrix.dtype)
                logits = multiply.logits(inputs).float()
                if bias is not None:
                    logits += bias
                beside = (x[part] for x in (targets, weights, losses, nll))
                blocks = (torch.split(x, _rows_at_once(logits)) for x in (logits, *beside))
                for some, of_targets, of_weights, of_losses, of_nll in zip(*blocks, strict=True):
                    masses = _token_losses(some, of_targets, smoothing, of_losses, of_nll)
                    if with_gradient:
                        _slopes(some, masses, of_targets, of_weights, smoothing)
                if grad_hidden is None:
                    continue
                if grad_bias is not None:
                    grad_bias += logits.sum(dim=0)
                if grad_separator is not None:
                    of_separator = logits[:, SEPARATOR]
                    grad_separator[:-1] += of_separator @ inputs.float()
                    grad_separator[-1] += of_separator.sum()
                slopes = logits.to(matrix.dtype)
                grad_hidden[rows[part]] = multiply.back(slopes).float()
                multiply.add(slopes, inputs)
            grad_output = multiply.gradient()
        if fixed_padding:
            for gradient in (grad_output, grad_bias):
                if gradient is not None:
                    gradient[PAD] = 0
        ctx.save_for_backward(grad_hidden, grad_output, grad_bias, grad_separator)
        ctx.dtypes = [None if x is None else x.dtype for x in (hidden, output, bias, separator)]
        ctx.mark_non_differentiable(losses, nll)
        return (losses * weights).sum(), losses, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        gradients = zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        of_hidden, of_output, of_bias, of_separator = (
            None if x is None else (x * slope).to(dtype) for x, dtype in gradients
        )
        return of_hidden, of_output, of_bias, None, of_separator, *[None] * 5


class _Products:
    """The three products of each chunk of N rows with the matrix (V, D)."""

    def __init__(self, matrix: Tensor, rows: int, sums: Tensor | None) -> None:
        """`sums`: (V, D) zeros, to which the gradients of the matrix are added."""
        self.matrix, self.sums = matrix, sums
        self.onednn = products.by_onednn(matrix)
        if self.onednn:
            # BLAS would transpose its first factor in memory: make that the small one, (N, D).
            self.sums = None if sums is None else sums.view(sums.shape[1], -1)
        else:
            # One buffer for all chunks: allocating would cost more than the arithmetic.
            self.buffer = matrix.new_empty(rows, len(matrix))

    def logits(self, inputs: Tensor) -> Tensor:
        """(N, D) -> (N, V), in reused memory."""
        if self.onednn:
            return products.multiply(inputs, self.matrix)
        return torch.mm(inputs, self.matrix.t(), out=self.buffer[: len(inputs)])

    def back(self, slopes: Tensor) -> Tensor:
        """(N, V) gradients of logits -> (N, D) those of the inputs."""
        if self.onednn:
            return products.multiply(slopes, self.matrix.t())
        return torch.mm(slopes, self.matrix)

    def add(self, slopes: Tensor, inputs: Tensor) -> None:
        """Add a chunk's contribution to the gradient of the matrix."""
        if self.sums is None:
            return
        if self.onednn:
            self.sums = products.multiply_onto(self.sums, inputs.t(), slopes.t(), None)
        elif self.matrix.dtype == torch.float32:
            self.sums.addmm_(slopes.t(), inputs)
        else:
            self.sums += torch.mm(slopes.t(), inputs)

    def gradient(self) -> Tensor | None:
        """(V, D) of the matrix, if requested."""
        if self.sums is None or not self.onednn:
            return self.sums
        return self.sums.t().contiguous()


def _rows_at_once(logits: Tensor) -> int:
    """How many rows stay in a CPU's cache between passes; on a device, all."""
    rows, size = logits.shape
    return max(1, CACHED_ELEMENTS // size if logits.device.type == "cpu" else rows)


def _token_losses(
    logits: Tensor, targets: Tensor, smoothing: float, losses: Tensor, nll: Tensor
) -> Tensor:
    """Fill losses and nll (N,). Logits (N, V) become exponentials in place; returns their sums."""
    logits.sub_(logits.amax(dim=1, keepdim=True))
    hits = logits.gather(1, targets[:, None]).squeeze(1)
    means = logits.mean(dim=1)
    masses = logits.exp_().sum(dim=1)
    logs = masses.log()
    torch.sub(logs, hits, out=nll)
    losses.copy_(nll)
    if smoothing:
        losses.mul_(1 - smoothing).add_(logs - means, alpha=smoothing)
    return masses


def _slopes(
    exponentials: Tensor, masses: Tensor, targets: Tensor, weights: Tensor, smoothing: float
) -> None:
    """(N, V) exponentials become the weighted gradients of the token losses, in place."""
    exponentials.mul_((weights / masses)[:, None])
    if smoothing:
        exponentials.sub_((weights * (smoothing / exponentials.shape[1]))[:, None])
    exponentials.scatter_add_(1, targets[:, None], (weights * (smoothing - 1))[:, None])
