"""Products by BLAS and by oneDNN are the same, and which is taken is measured once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from concatmt.decoding.config import PoolConfig, SearchConfig
from concatmt.decoding.engine import Engine
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.decoding.search import Search
from concatmt.errors import UserError
from concatmt.model import products
from concatmt.model.linear import Linear
from concatmt.training.config import TrainingConfig
from concatmt.training.objective import Objective
from tests.unit.decoding.models import MARIAN, make_model, make_windows
from tests.unit.model.small_models import build, random_batch

pytestmark = pytest.mark.skipif(not products.has_onednn(), reason="this PyTorch has no oneDNN")
LIBRARIES: tuple[products.Library, ...] = ("blas", "onednn")


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process that has not measured, and an empty cache directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(products.VARIABLE, raising=False)
    monkeypatch.setattr(products, "_known", {})
    return tmp_path / "concatmt" / products.MEASURED


@pytest.mark.parametrize("shape", [(3, 5, 24, 40), (2, 7, 40, 24), (1, 1, 8, 8)])
@pytest.mark.parametrize("bias", [True, False])
def test_onednn_gives_values_and_gradients_of_double_precision(
    shape: tuple[int, int, int, int], bias: bool
) -> None:
    torch.manual_seed(1)
    rows, columns, inputs, outputs = shape
    layer = Linear(inputs, outputs, bias=bias)
    x = torch.randn(rows, columns, inputs, requires_grad=True)
    # Not contiguous, as gradients of a split into heads are.
    slope = torch.randn(columns, rows, outputs).transpose(0, 1)
    with products.using("onednn"):
        layer(x).backward(slope)
        found = [layer(x), x.grad, *(p.grad for p in layer.parameters())]
    double = [p.detach().double().requires_grad_() for p in (x, *layer.parameters())]
    y = F.linear(*double)
    y.backward(slope.double())
    for ours, theirs in zip(found, [y, *(p.grad for p in double)], strict=True):
        assert ours is not None
        assert theirs is not None
        assert (ours - theirs).abs().max() < 1e-5


def test_the_loss_and_its_gradients_do_not_depend_on_the_library() -> None:
    found = {}
    for name in LIBRARIES:
        model = build("s4to4+cd", dropout=0.0).train()
        with products.using(name):
            loss = Objective(model, TrainingConfig())(random_batch(model)).total
            loss.backward()
        found[name] = [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]
    for one, other in zip(*found.values(), strict=True):
        assert one.stride() == other.stride()
        assert (one - other).abs().max() < 1e-4 * max(1.0, float(one.abs().max()))


@pytest.mark.parametrize("settings", [{}, MARIAN, {"norm": "pre"}])
def test_searches_find_the_same_with_the_same_scores(settings: dict[str, Any]) -> None:
    model, windows = make_model("s4to4+shift5+pers", sharpness=1.0, **settings), make_windows(8, 4)
    found = []
    for name in LIBRARIES:
        with products.using(name):
            found.append(Search(Engine(model), SearchConfig(beam=3)).run(windows))
    for one, other in zip(*found, strict=True):
        assert [h.tokens for h in one] == [h.tokens for h in other]
        for a, b in zip(one, other, strict=True):
            # Differences of float32 sums of some -200, whose last digit is 1.5e-5.
            assert a.log_probs == pytest.approx(b.log_probs, abs=4e-5)


def test_scores_of_given_translations_agree_to_five_digits() -> None:
    model = make_model("s4to4+shift5+pers", sharpness=1.0)
    sides = make_windows(6, 4), make_windows(6, 4, seed=1)
    items = [
        ScoringItem(window.source, [[[*other.source[0]] for _ in window.source]])
        for window, other in zip(*sides, strict=True)
    ]
    found = []
    for name in LIBRARIES:
        with products.using(name):
            scores = score_items(Engine(model), items, PoolConfig())
            found.append([score for item in scores for path in item for score in path])
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_the_faster_one_is_measured_once_a_machine(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratios = iter([1.8])
    monkeypatch.setattr(products, "_times_as_fast", lambda: next(ratios))
    assert products.library(1) == "onednn"
    monkeypatch.setattr(products, "_known", {})  # as in a new process
    assert products.library(1) == "onednn"
    (entry,) = json.loads(fresh.read_text()).values()
    assert entry == {"library": "onednn", "onednn_times_as_fast": 1.8}


def test_blas_stays_where_onednn_is_hardly_faster(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_times_as_fast", lambda: 1.04)
    assert products.library(1) == "blas"


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"x": 1}', "\x00"])
def test_a_damaged_file_of_measurements_is_measured_again(
    damage: str, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_times_as_fast", lambda: 2.0)
    fresh.parent.mkdir()
    fresh.write_text(damage)
    assert products.library(1) == "onednn"


def test_a_cache_directory_that_cannot_be_made_is_no_error(
    tmp_path: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(products, "_times_as_fast", lambda: 2.0)
    assert products.library(1) == "onednn"


def test_processes_that_measure_at_once_leave_a_whole_file(fresh: Path) -> None:
    code = "from concatmt.model.products import library; print(library(1))"
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0].strip() for process in processes]
    assert all(output in LIBRARIES for output in outputs)
    assert len(json.loads(fresh.read_text())) == 1
    assert [path.name for path in fresh.parent.iterdir()] == [fresh.name]


def test_the_environment_decides_and_nonsense_in_it_is_refused(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LIBRARIES:
        monkeypatch.setenv(products.VARIABLE, name)
        assert products.library() == name
    monkeypatch.setenv(products.VARIABLE, "mkl")
    with pytest.raises(UserError, match="CONCATMT_PRODUCTS=mkl: must be auto, blas or onednn"):
        products.library()
    assert not fresh.exists()
