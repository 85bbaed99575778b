"""The Muon optimiser (Jordan et al. 2024): momentum, orthogonalised before it is applied.

All directions of a weight move alike, even those that only rare words need. torch has a Muon,
but it multiplies in bfloat16 and one matrix at a time: on a CPU without bfloat16 that takes ten
times as long as the update itself. Here matrices of one shape are one batch, in float32.
Does not know models.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# The polynomial a x + b x^3 + c x^5 applied to the singular values five times: from
# anywhere between 0 and 1 to near 1. Jordan's coefficients.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
ADAM_SIZE = 0.2  # the usual root mean square of Adam's updates, over the rate (Liu et al. 2025)


class Muon(torch.optim.Optimizer):
    """For matrices only. Each parameter of a group holds `parts` matrices, one
    below the other, which are orthogonalised separately.

    Updates are as large as Adam's, so that rates mean the same.
    """

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        lr: float,
        momentum: float,
        weight_decay: float,
    ) -> None:
        defaults = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "parts": 1}
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update; `closure` is not called."""
        places: list[tuple[Tensor, float]] = []  # each matrix, and the rate of its group
        directions: list[Tensor] = []
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                direction = self._direction(parameter, group["momentum"])
                places += [(part, group["lr"]) for part in parameter.chunk(group["parts"])]
                directions += direction.chunk(group["parts"])
        for (matrix, rate), update in zip(places, orthogonal(directions), strict=True):
            matrix.add_(update, alpha=-rate * ADAM_SIZE * max(matrix.shape) ** 0.5)

    def _direction(self, parameter: Tensor, momentum: float) -> Tensor:
        """Nesterov's momentum."""
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)


def orthogonal(matrices: list[Tensor]) -> list[Tensor]:
    """Each matrix with its singular values replaced by values near 1; zeros stay zero."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for i, matrix in enumerate(matrices):
        shapes.setdefault(tuple(sorted(matrix.shape)), []).append(i)
    results = list(matrices)
    for places in shapes.values():
        wide = [x.mT if len(x) > x.shape[1] else x for x in (matrices[i] for i in places)]
        for i, x in zip(places, _newton_schulz(torch.stack(wide)), strict=True):
            results[i] = x if x.shape == matrices[i].shape else x.mT
    return results


def _newton_schulz(x: Tensor) -> Tensor:
    """(N, rows, columns), rows <= columns."""
    a, b, c = COEFFICIENTS
    x = x / torch.linalg.matrix_norm(x, keepdim=True).clamp(min=1e-12)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
