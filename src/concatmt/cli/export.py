"""`concatmt evaluate --export`: write translations and sets for tools that run elsewhere."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from concatmt.errors import UserError
from concatmt.evaluation.config import ExportConfig
from concatmt.evaluation.expectations import read_expectations
from concatmt.evaluation.export import comet_lines, ctxpro_lines, muda_columns, read_sides
from concatmt.evaluation.perturbed_sets import as_lines, perturb
from concatmt.evaluation.sets import read_set
from concatmt.evaluation.translations import read_translations
from concatmt.files import write_text


def export(
    files: Sequence[Path],
    config: ExportConfig,
    output: Path | None,
    references: Path | None,
    expected: Path | None,
    documents: Path | None,
) -> None:
    """Write the export that `config` names to `output`."""
    if output is None:
        raise UserError("--export: also give --output, where to write it")
    if len(files) > 1 and config.export != "muda":
        raise UserError(f"--export {config.export}: give one file")
    if config.export == "comet":
        sides = read_sides(_given(config.source, "source", config), files, references)
        window = config.window or 1
        _write(output, comet_lines(sides, window, config.stride or window))
    elif config.export == "muda":
        _muda(files, config, output, _given(references, "references", config))
    elif config.export == "items":
        expectations = read_expectations(files[0], documents)
        _write(output, (json.dumps(item.record(), ensure_ascii=False) for item in expectations))
    elif config.export == "ctxpro":
        items = read_expectations(_given(expected, "expected", config))
        _write(output, ctxpro_lines(read_translations(files[0]), items))
    else:
        if config.contexts is None:
            raise UserError("--export perturbed: give --contexts none, random, shuffled or other")
        if config.window == 1:
            raise UserError("--window: a window of one sentence has no context")
        of_set = read_set(files[0], documents).items
        records, unchanged = perturb(of_set, config.contexts, config.seed, config.window)
        write_text(output, as_lines(records))
        print(f"{output}: {len(records):,} items, {unchanged:,} of them unchanged", file=sys.stderr)


def _muda(files: Sequence[Path], config: ExportConfig, output: Path, references: Path) -> None:
    names = [f"hyp.{path.stem}" for path in files]
    if len(set(names)) < len(names):
        raise UserError("two files of translations have the same name; rename one")
    sides = read_sides(_given(config.source, "source", config), files, references)
    (src, *hypotheses, tgt), numbers = muda_columns(sides)
    columns = {"src": src, "tgt": tgt, "docids": numbers}
    columns |= dict(zip(names, hypotheses, strict=True))
    for name, lines in columns.items():
        _write(output / name, lines)


def _given(path: Path | None, option: str, config: ExportConfig) -> Path:
    if path is None:
        raise UserError(f"--export {config.export}: give --{option}")
    return path


def _write(path: Path, lines: Iterable[str]) -> None:
    written = list(lines)
    write_text(path, "".join(f"{line}\n" for line in written))
    print(f"{path}: {len(written):,} lines", file=sys.stderr)
