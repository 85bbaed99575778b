"""What a MarianMT directory has no place for is refused before anything is written."""

from pathlib import Path

import pytest

from concatmt.convert.to_hugging_face import export_hugging_face
from concatmt.errors import UserError
from tests.unit.decoding.models import make_model, make_pipeline


@pytest.mark.parametrize("system", ["s4to4+lrn", "s4to4+srope", "s4to4+alibi"])
def test_systems_that_marianmt_cannot_compute_are_refused(tmp_path: Path, system: str) -> None:
    pipeline = make_pipeline()
    model = make_model(system, len(pipeline.source))
    with pytest.raises(UserError, match="only base and sKtoK systems can be exported"):
        export_hugging_face(model, pipeline, tmp_path / "out")
    assert not (tmp_path / "out").exists()
