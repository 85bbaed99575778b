"""Converts a foreign model into a model directory, or a model directory into another format."""

from pathlib import Path
from typing import Literal

from concatmt.conversion.config import ImportConfig
from concatmt.conversion.ctranslate2 import export_ctranslate2
from concatmt.conversion.imported import Imported, save_imported
from concatmt.conversion.recognise import check_output, import_model, own_model
from concatmt.conversion.to_hugging_face import export_hugging_face
from concatmt.errors import UserError
from concatmt.model.card import read_origin
from concatmt.model.directory import load_model
from concatmt.text.pipeline import TextPipeline

Target = Literal["huggingface", "ctranslate2"]


def convert_in(path: Path, output: Path, config: ImportConfig) -> Imported:
    """Write the model directory of a foreign model."""
    check_output(path, output, None)
    imported = import_model(path, config)
    save_imported(imported, output)
    return imported


def convert_out(path: Path, output: Path, to: Target, quantization: str | None = None) -> None:
    """Write a model directory of ours in another format."""
    check_output(path, output, to)
    if quantization is not None and to != "ctranslate2":
        raise UserError("--quantization: only applies with --to ctranslate2")
    folder = own_model(path)
    model, text = load_model(folder), TextPipeline.load(folder / "text")
    if to == "huggingface":
        export_hugging_face(model, text, output, read_origin(folder), folder)
    else:
        export_ctranslate2(model, text, output, quantization)
