"""Builds sdist and wheel, installs the wheel in an empty environment, and meets it as a stranger.

    python scripts/check_wheel.py [--whole]

What is built must hold every file of the package. From a folder that knows nothing of the
repository: `concatmt doctor`, `demo` (quick, or whole), a film translated with the demo's model,
`serve` asked by HTTP. Needs the package `build`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "constraints.txt"
FILM = """\
1
00:00:01,000 --> 00:00:03,500
Anton ordered the biscuit.

2
00:00:04,000 --> 00:00:06,000
The guests laughed. Anna ordered
the cabbage near the border.

3
00:00:06,500 --> 00:00:08,000
It was edible.
"""
TIMES = re.compile(r"^\d\d:\d\d:\d\d,\d{3} --> .*$", re.MULTILINE)
PATIENCE = 120  # seconds for a server to answer


def main() -> None:
    """All steps; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--whole", action="store_true", help="the whole demo, not the quick one")
    whole = parser.parse_args().whole
    with tempfile.TemporaryDirectory(prefix="concatmt-wheel-") as name:
        folder = Path(name)
        wheel = build(folder / "dist")
        check_contents(wheel)
        stranger = Stranger(folder, wheel)
        stranger.run("doctor")
        stranger.run("demo", *([] if whole else ["--quick"]))
        model = stranger.home / "demo" / "runs" / "s4to4+cd" / "model"
        stranger.translate_a_film(model)
        stranger.serve(model)
    print("the wheel works")


def build(folder: Path) -> Path:
    """The sdist, and a wheel made from it and not from the repository."""
    environment = {**os.environ, "PIP_CONSTRAINT": str(PINS)}
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    [wheel] = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Every tracked file of the package, and no other, is in the wheel."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/concatmt"]
    tracked = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    expected = {
        name.removeprefix("src/") for name in tracked.stdout.split("\n") if (ROOT / name).is_file()
    }
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if name.startswith("concatmt/")}
    if found != expected:
        sys.exit(f"{wheel.name}: differs from the repository: {sorted(found ^ expected)}")
    print(f"{wheel.name}: {len(found)} files, all of the package")


class Stranger:
    """Somebody with an empty environment and a home without the repository."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        venv.create(folder / "venv", with_pip=True)
        self.bin = folder / "venv" / "bin"
        # Pip's own settings stay, for where packages come from; Python's go.
        drop = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONCATMT_PLUGINS")
        self.environment = {k: v for k, v in os.environ.items() if k not in drop}
        pip = [str(self.bin / "pip"), "install", "--quiet", "--constraint", str(PINS)]
        subprocess.run([*pip, f"{wheel}[serve]"], check=True, env=self.environment)
        code = "import concatmt, sys; print(concatmt.__file__); print(sys.path)"
        where = self._call([str(self.bin / "python"), "-c", code]).stdout
        if not where.startswith(str(folder)) or str(ROOT) in where:
            sys.exit(f"the repository is still in sight: {where}")

    def run(self, *words: str) -> str:
        """A command of concatmt, shown with what it prints."""
        print(f"$ concatmt {' '.join(words)}", flush=True)
        done = self._call([str(self.bin / "concatmt"), *words])
        print(done.stdout, flush=True)
        return done.stdout

    def translate_a_film(self, model: Path) -> None:
        """Times stay, every cue has text, and some of the letters are those of the language."""
        (self.home / "film.srt").write_text(FILM)
        self.run("translate", str(model), "film.srt", "--output", "film.ru.srt")
        text = (self.home / "film.ru.srt").read_text("utf-8")
        print(text)
        cues = [cue.splitlines()[2:] for cue in text.strip().split("\n\n")]
        same = TIMES.findall(text) == TIMES.findall(FILM)
        if not same or not all(cues) or not re.search("[а-яё]", text):
            sys.exit("film.ru.srt: is no translation of film.srt")

    def serve(self, model: Path) -> None:
        """Ask a server for its languages, a translation and its page, then end it."""
        command = [str(self.bin / "concatmt"), "serve", str(model), "--port", "0"]
        server = subprocess.Popen(
            command, cwd=self.home, env=self.environment, stderr=subprocess.PIPE, text=True
        )
        try:
            address = self._address(server)
            asked = {"q": "It was edible.", "source": "en", "target": "ru"}
            request = urllib.request.Request(
                f"{address}/translate",
                data=json.dumps(asked).encode(),
                headers={"Content-Type": "application/json"},
            )
            answer = json.load(urllib.request.urlopen(request, timeout=PATIENCE))
            print(f"{address}/translate: {answer}")
            page = urllib.request.urlopen(f"{address}/", timeout=PATIENCE).read().decode()
            if not answer["translatedText"] or "<html" not in page:
                sys.exit("the server's answer is no translation, or its page no page")
        finally:
            server.terminate()
            status = server.wait(PATIENCE)
        if status:
            sys.exit(f"the server ended with {status}")

    def _address(self, server: "subprocess.Popen[str]") -> str:
        """As the server announces it."""
        assert server.stderr is not None
        end = time.monotonic() + PATIENCE
        for line in server.stderr:
            if found := re.search(r"http://[\d.]+:\d+", line):
                return found[0]
            if time.monotonic() > end:
                break
        sys.exit("the server does not say where it listens")

    def _call(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            command, cwd=self.home, env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return done


if __name__ == "__main__":
    main()
