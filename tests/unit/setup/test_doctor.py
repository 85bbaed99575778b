"""What the doctor says is what the installation has."""

import platform
from importlib.metadata import version
from pathlib import Path

import pytest

from concatmt.setup import doctor
from concatmt.setup.doctor import Requirement, examine, requirements
from concatmt.setup.hardware import usable_memory


def facts() -> dict[str, doctor.Fact]:
    return {fact.name: fact for fact in examine()}


def test_versions_are_those_of_the_libraries_that_are_imported() -> None:
    found = facts()
    assert platform.python_version() in found["Python"].value
    assert f"torch {version('torch')}" in found["libraries"].value
    assert found["libraries"].problem is None


def test_requirements_are_those_of_the_package_with_their_extras() -> None:
    found = {(one.name, one.extra): one.at_least for one in requirements()}
    assert found["torch", None] == "2.6"
    assert found["matplotlib", "plots"] == "3.8"


def test_what_is_missing_or_too_old_is_reported_with_the_command_that_fixes_it() -> None:
    missing = Requirement("a-package-that-nobody-has", "2.0", None)
    assert missing.problem is not None
    assert "pip install 'a-package-that-nobody-has>=2.0'" in missing.problem
    assert Requirement("torch", "99", None).problem is not None
    assert Requirement("torch", "2.6", None).problem is None


@pytest.mark.parametrize(("old", "new"), [("2.9", "2.13.0+cpu"), ("1", "1.0.1"), ("0.9rc1", "1")])
def test_versions_are_compared_by_their_numbers(old: str, new: str) -> None:
    assert doctor._numbers(old) < doctor._numbers(new)
    assert doctor._numbers("2.0") == doctor._numbers("2")


def test_a_cache_that_cannot_be_written_to_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "XDG_CACHE_HOME" in (facts()["cache"].problem or "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "folder"))
    assert facts()["cache"].problem is None


def test_a_container_has_as_much_memory_as_its_limit_says(tmp_path: Path) -> None:
    whole = usable_memory(())
    assert whole is not None
    (tmp_path / "memory.max").write_text("1000000\n")
    assert usable_memory((tmp_path / "memory.max",)) == 1_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert usable_memory((tmp_path / "memory.max", tmp_path / "none")) == whole
