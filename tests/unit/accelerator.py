"""A device that computes nothing, to prove on a CPU what would happen on a GPU.

Tensors on it have shapes and no values. A tensor of the host among those of the device is refused,
and so is whatever must wait for a value to come back: `.item()`, `.tolist()`, `nonzero`, indexing
by a bool mask. What the host computes is real.
"""

from typing import Any, Self

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "dummy"
aten = torch.ops.aten
MOVES = (aten._to_copy.default, aten.to.device, aten.to.dtype_layout)


class WrongDeviceError(Exception):
    """A tensor of the host where one of the device is needed."""


class SynchronisationError(Exception):
    """The host would have to wait for the device."""


def set_up() -> torch.device:
    """Make the device known to PyTorch, for the rest of the process."""
    if not hasattr(torch, NAME):
        _setup_privateuseone_for_python_backend(NAME)
        getattr(torch, NAME).get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
        autocast = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")
        autocast.fallback(torch.library.fallthrough_kernel)
        _kept.append(autocast)
    return torch.device(NAME, 0)


_kept: list[Any] = []


class _Construction(TorchFunctionMode):
    """Values of Python go to the device by way of the host, which kernels do not see otherwise."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if function is not torch.tensor:
            return function(*args, **kwargs)
        device = kwargs.pop("device", None)
        made = function(*args, **kwargs)
        return made if device is None else made.to(device)


class Accelerator(TorchDispatchMode):
    """While it is entered, tensors can be made on the device and taken there."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeTensorMode(allow_non_fake_inputs=False)
        self.construction = _Construction()

    def __enter__(self) -> Self:
        self.construction.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.construction.__exit__(*error)

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, Tensor)]
        there = any(isinstance(x, FakeTensor) for x in tensors)
        target = kwargs.get("device")
        if function is aten.to.device:  # in inference mode
            target, kwargs = args[1], {"dtype": args[2]}
        if not there and (target is None or torch.device(target).type != NAME):
            return function(*args, **kwargs)
        if function in MOVES and target is not None:
            return self._moved(args[0], target, kwargs.get("dtype"))
        host = [x for x in tensors if not isinstance(x, FakeTensor)]
        if any(x.dim() for x in host):
            raise WrongDeviceError(f"{function}: a tensor of the host, {tuple(host[0].shape)}")
        args, kwargs = tree_map(self._scalar, (args, kwargs))
        try:
            with self.fake:
                return function(*args, **kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            raise SynchronisationError(str(function)) from error

    def _scalar(self, x: Any) -> Any:
        """A number of the host may be given along with any kernel."""
        real = isinstance(x, Tensor) and not isinstance(x, FakeTensor)
        return self.fake.from_tensor(x) if real else x

    def _moved(self, x: Tensor, target: Any, dtype: torch.dtype | None) -> Tensor:
        if target is not None and torch.device(target).type == "cpu":
            raise SynchronisationError("a copy to the host")
        with self.fake:
            return (
                torch.empty_like(x, dtype=dtype, device=NAME)
                if isinstance(x, FakeTensor)
                else torch.empty(x.shape, dtype=dtype or x.dtype, device=NAME)
            )
