"""Verbs under their old names."""

import pytest

from concatmt.cli.old_names import current
from tests.conftest import Command


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("contrast model set.json --ties wrong", "score model set.json --ties wrong"),
        ("stats data --verify", "inspect stats data --verify"),
        ("figure pca -o x.svg", "inspect figure pca -o x.svg"),
        ("sweep c --system base --rates 1", "train c --system base --rates 1"),
        ("sweep c --seeds 1", "train c --seeds 1 --rates 7e-4,9e-4,1e-3,3e-3"),
        ("import-fairseq c.pt -o model", "convert c.pt -o model"),
        (
            "export-ctranslate2 model --quantization int8 ct2",
            "convert model --quantization int8 --output ct2 --to ctranslate2",
        ),
        (
            "perturb s.jsonl --context none --output t",
            "evaluate s.jsonl --contexts none --output t --export perturbed",
        ),
        ("export muda a.de b.de --output m", "evaluate a.de b.de --output m --export muda"),
    ],
)
def test_a_command_under_its_old_name_is_the_new_one_and_says_so_in_one_line(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert current(old.split()) == new.split()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"'concatmt {old.split()[0]}' is now 'concatmt {new.split()[0]}" in told
    assert current(new.split()) == new.split()
    assert not capsys.readouterr().err


def test_old_names_work_and_are_not_in_the_help(concatmt: Command) -> None:
    done = concatmt("stats", "nowhere")
    assert done.returncode == 2
    assert "nowhere: not a store" in done.stderr
    assert "sweep" not in concatmt("--help").stdout
