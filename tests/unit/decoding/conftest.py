"""A model directory that the tests of decoding share."""

from pathlib import Path

import pytest

from tests.unit.decoding.models import write_model


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained s3to3 model with the sample corpus' SentencePiece."""
    return write_model(tmp_path_factory.mktemp("model") / "model")
