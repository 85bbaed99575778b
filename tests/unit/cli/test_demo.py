"""`concatmt demo` plays the story with this Python, and its commands exist."""

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from concatmt.setup import demo


def test_the_story_runs_with_the_commands_beside_this_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = tmp_path / "demo.sh"
    story.write_text('echo "$FOLDER|$QUICK|${PATH%%:*}" > "$FOLDER/said"; exit 3\n')
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    assert demo.play(tmp_path / "out", quick=True) == 3
    said = (tmp_path / "out" / "said").read_text().strip()
    assert said == f"{tmp_path / 'out'}|1|{Path(sys.executable).parent}"
    demo.play(tmp_path / "out", quick=False)
    assert "||" in (tmp_path / "out" / "said").read_text()


def test_the_story_is_a_script_without_errors_of_syntax() -> None:
    with resources.as_file(resources.files("concatmt.setup") / "demo.sh") as script:
        assert subprocess.run(["sh", "-n", str(script)]).returncode == 0
