"""Linear layers with what blocks do right after them.

Decoding has layers of its own with the same methods.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from concatmt.model.dropout import dropout_add


class Linear(nn.Linear):
    """y = x W' + b, also with a ReLU or a residual."""

    def relu(self, x: Tensor) -> Tensor:
        """(..., in) -> (all rows, out), y where it is above 0."""
        # Flat, because autograd pays for changes in place of a view with several copies.
        return F.relu(self(x.flatten(0, -2)), inplace=True)

    def onto(self, residual: Tensor, x: Tensor, p: float) -> Tensor:
        """residual + dropout(y), in the shape of `residual` (..., out)."""
        return dropout_add(self(x).view(residual.shape), residual, p)
