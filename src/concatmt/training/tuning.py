"""Freezes parts of a pretrained model, which saves their time in training.

Frozen parameters get no gradient and have no place in the optimiser. If the embeddings are
frozen except for the separator, its rows are separate parameters: a gradient of the whole matrix
(some 59,000 rows in OPUS-MT's models) is then never computed. Does not know the loop.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn

from concatmt.errors import UserError
from concatmt.model.adapt import tables_of
from concatmt.model.transformer import Transformer
from concatmt.text.vocabulary import SEPARATOR
from concatmt.training.config import TuningConfig

Hook = Callable[[nn.Module, tuple[Tensor], Tensor], Tensor | None]


class SeparatorRows(nn.Module):
    """The separator's rows of frozen tables, and its output bias, as separate parameters.

    The tables hold the same values: `write` puts them there after an update, `read` takes them
    from there after loading.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        # In lists, as attributes would become parameters of this module too.
        self.tables = tables_of(model)
        self.biases = [] if model.output.bias is None else [model.output.bias]
        self.rows = nn.ParameterList(nn.Parameter(t[SEPARATOR].clone()) for t in self.tables)
        self.bias_rows = nn.ParameterList(nn.Parameter(b[SEPARATOR].clone()) for b in self.biases)
        places = {id(table): place for place, table in enumerate(self.tables)}
        self.output_place = places[id(model.output.weight)]
        for embedding in {model.source_embedding, model.target_embedding}:
            row = self.rows[places[id(embedding.weight)]]
            embedding.register_forward_hook(_with_gradient(row))

    def output(self) -> Tensor:
        """(D + 1,) the row of the output layer and its bias."""
        row = self.rows[self.output_place]
        bias = self.bias_rows[0] if self.biases else row.new_zeros(())
        return torch.cat([row, bias[None]])

    @torch.no_grad()
    def write(self) -> None:
        """Write the rows into the tables."""
        for table, row in self._pairs():
            table[SEPARATOR] = row

    @torch.no_grad()
    def read(self) -> None:
        """Read the rows from the tables."""
        for table, row in self._pairs():
            row.copy_(table[SEPARATOR])

    def _pairs(self) -> Iterator[tuple[nn.Parameter, nn.Parameter]]:
        yield from zip(self.tables, self.rows, strict=True)
        yield from zip(self.biases, self.bias_rows, strict=True)


def _with_gradient(row: nn.Parameter) -> Hook:
    """A hook that keeps an embedding's output and passes gradients on to the row."""

    def hook(_: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor | None:
        if not torch.is_grad_enabled():
            return None
        places = (inputs[0] == SEPARATOR).to(row.dtype)[..., None]
        return output + places * (row - row.detach())

    return hook


def freeze(model: Transformer, config: TuningConfig) -> SeparatorRows | None:
    """Freeze what `config` says; returns the separator's rows if only they are trained."""
    for name, blocks, count in (
        ("encoder_layers", model.encoder, config.encoder_layers),
        ("decoder_layers", model.decoder, config.decoder_layers),
    ):
        if count is not None and count > len(blocks):
            raise UserError(f"training.tuning.{name}: {count}, but the model has {len(blocks)}")
        for block in [] if count is None else blocks[: len(blocks) - count]:
            block.requires_grad_(False)
    if config.embeddings == "all":
        return None
    rows = SeparatorRows(model) if config.embeddings == "separator" else None
    for table in tables_of(model):
        table.requires_grad_(False)
    if model.output.bias is not None:
        model.output.bias.requires_grad_(False)
    return rows


def trained(model: Transformer, rows: SeparatorRows | None) -> dict[str, nn.Parameter]:
    """All trained parameters by name."""
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if rows is not None:
        named |= {f"separator.{name}": p for name, p in rows.named_parameters()}
    if not named:
        raise UserError("training.tuning: leaves nothing to train")
    return named


def count(parameters: Iterable[nn.Parameter] | Mapping[str, nn.Parameter]) -> int:
    """The total size of parameters."""
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    return sum(parameter.numel() for parameter in values)
