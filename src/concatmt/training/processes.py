"""The processes of a run: one, or those that torchrun started. Only collective sums.

Knows ranks and devices. Does not know models or data.
"""

import os
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from concatmt.errors import UserError
from concatmt.parallel import count_from_environment


@dataclass(frozen=True)
class Processes:
    """This process among its peers."""

    rank: int
    world: int
    device: torch.device

    @classmethod
    def join(cls, device: str) -> "Processes":
        """Join the group that torchrun's environment describes, or be alone."""
        cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
        if cuda and not torch.cuda.is_available():
            raise UserError("training.device: cuda: there is no GPU that PyTorch can use; set cpu")
        if "RANK" not in os.environ:
            return cls(0, 1, torch.device("cuda" if cuda else "cpu"))
        for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"):
            count_from_environment(name, "0")
        local = count_from_environment("LOCAL_RANK", "0")
        chosen = torch.device("cuda", local) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(chosen)
        if not distributed.is_initialized():
            try:
                distributed.init_process_group("nccl" if cuda else "gloo")
            except (ValueError, RuntimeError) as error:
                reason = str(error).partition("\n")[0]
                raise UserError(
                    f"RANK is set, but no processes can be joined: {reason}; start them with"
                    " torchrun, or unset RANK"
                ) from error
        return cls(distributed.get_rank(), distributed.get_world_size(), chosen)

    @property
    def first(self) -> bool:
        """Whether this process prints and writes for all."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """The sum of `values` over all processes, in place."""
        if self.world > 1:
            distributed.all_reduce(values)
        return values

    def wait(self) -> None:
        """Return when all processes have reached this point."""
        if self.world > 1:
            distributed.barrier()

    def leave(self) -> None:
        """Leave the group at the end of a run."""
        if self.world > 1 and distributed.is_initialized():
            distributed.destroy_process_group()
