"""What approved translations of a job decide: the same sources, other translations before them.

    python benchmarks/approved.py MODEL

Makes two XLIFF jobs of the pairs below, whose every second unit is approved, translates both with
`concatmt translate` and prints how the units between came out.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

# Source of the approved unit, its two translations, source of the unit that follows.
CASES = (
    ("Look at that.", "Regardez cet appareil.", "Regardez cette machine.", "It is very old."),
    (
        "The meeting was postponed.",
        "Le rendez-vous a été reporté.",
        "La réunion a été reportée.",
        "It will take place tomorrow.",
    ),
    (
        "Anna bought a car.",
        "Anna a acheté un véhicule.",
        "Anna a acheté une voiture.",
        "It is red, and it was expensive.",
    ),
    ("Here is the soup.", "Voici le potage.", "Voici la soupe.", "It is too hot."),
    ("We visited the house.", "Nous avons visité le logement.", "Nous avons visité la maison.",
     "It was built in 1900."),
)  # fmt: skip


def job(which: int) -> str:
    units: list[str] = []
    for case in CASES:
        approved = f"<source>{escape(case[0])}</source><target>{escape(case[which])}</target>"
        units.append(f'<trans-unit id="{len(units)}" approved="yes">{approved}</trans-unit>')
        units.append(
            f'<trans-unit id="{len(units)}"><source>{escape(case[3])}</source></trans-unit>'
        )
    return f'<xliff version="1.2"><file><body>\n{chr(10).join(units)}\n</body></file></xliff>\n'


def main() -> None:
    model = sys.argv[1]
    found: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for which in (1, 2):
            path, out = Path(folder) / f"{which}.xlf", Path(folder) / f"{which}.fr.xlf"
            path.write_text(job(which), encoding="utf-8")
            command = [sys.executable, "-m", "concatmt", "translate", model, str(path)]
            subprocess.run([*command, "--output", str(out)], check=True, stderr=subprocess.DEVNULL)
            targets = re.findall(r"<target>(.*?)</target>", out.read_text(encoding="utf-8"))
            found.append(targets[1::2])
    print("| source | approved before it | translation |\n| --- | --- | --- |")
    for case, first, second in zip(CASES, *found, strict=True):
        print(f"| {case[3]} | {case[1]} | {first} |\n| | {case[2]} | {second} |")


if __name__ == "__main__":
    main()
