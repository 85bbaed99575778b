"""Settings of grids of runs: which runs, and where to run them.

The command line makes its options from these classes, so importing this must stay quick: no torch.
"""

from typing import Annotated, Literal

from pydantic import Field

from concatmt.settings import Settings

Count = Annotated[int, Field(ge=1)]


class LaunchConfig(Settings):
    """Where to run."""

    launcher: Literal["local", "slurm"] = Field(default="local", description="Where to run.")
    jobs: Count = Field(default=2, description="Runs at a time, with local.")
    partition: str = Field(default="", description="SLURM partition.")
    minutes: Count = Field(default=1440, description="Time limit of a SLURM job.")
    gpus: int = Field(default=1, ge=0, description="GPUs of a SLURM job.")


class GridConfig(Settings):
    """Learning rates and seeds; every combination is a run."""

    rates: tuple[float, ...] = Field(
        default=(), description="Peak learning rates; the paper's grid is 7e-4,9e-4,1e-3,3e-3."
    )
    seeds: tuple[int, ...] = Field(default=(), description="Seeds, instead of --seed.")
    launch: LaunchConfig = LaunchConfig()
