"""What `concatmt demo` does: plays demo.sh, which tells a story of commands, with this Python."""

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path


def play(folder: Path, quick: bool) -> int:
    """Run the story in `folder`; its exit code."""
    # The commands are those beside this interpreter, whether its environment is active or not.
    path = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    told = {"PATH": os.pathsep.join(path), "FOLDER": str(folder), "QUICK": "1" if quick else ""}
    folder.mkdir(parents=True, exist_ok=True)
    with resources.as_file(resources.files(__package__) / "demo.sh") as script:
        return subprocess.run(["sh", str(script)], env={**os.environ, **told}).returncode
