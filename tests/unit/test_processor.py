"""The limit on oneDNN's instructions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from concatmt import processor

PRODUCTS = """
import torch
from concatmt.decoding.int8_layers import QuantizedLinear
x, weight = torch.ones(64, 64), torch.ones(64, 64)
assert (QuantizedLinear(weight, None)(x) - 64).abs().max() < 1e-3
assert (x.bfloat16() @ weight.bfloat16() == 64).all()
"""


@pytest.fixture
def cpuinfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a processor that announces tiles, on a machine without a limit."""
    monkeypatch.delenv(processor.LIMIT, raising=False)
    monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
    path = tmp_path / "cpuinfo"
    path.write_text("model name\t: A\nflags\t\t: fpu avx512f amx_bf16 amx_tile amx_int8\n")
    return path


@pytest.mark.parametrize(("palettes", "limit"), [(0, "AVX512_CORE_FP16"), (1, None), (None, None)])
def test_announced_tiles_are_avoided_only_if_there_is_none(
    palettes: int | None, limit: str | None, cpuinfo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor, "_palettes", lambda: palettes)
    processor.avoid_missing_tiles(cpuinfo)
    assert os.environ.get(processor.LIMIT) == limit


def test_a_processor_without_tiles_is_not_asked_for_them(
    cpuinfo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo.write_text("flags\t\t: fpu avx2\n")
    monkeypatch.setattr(processor, "_palettes", lambda: pytest.fail("asked"))
    processor.avoid_missing_tiles(cpuinfo)
    assert processor.LIMIT not in os.environ


def test_a_limit_of_the_user_stays(cpuinfo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(processor.LIMIT, "AVX2")
    monkeypatch.setattr(processor, "_palettes", lambda: 0)
    processor.avoid_missing_tiles(cpuinfo)
    assert os.environ[processor.LIMIT] == "AVX2"


def test_products_in_int8_and_bfloat16_survive_on_this_machine() -> None:
    environment = {key: value for key, value in os.environ.items() if key != processor.LIMIT}
    command = [sys.executable, "-c", PRODUCTS]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
