"""Several models at a time, in limited memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from concatmt.errors import UserError
from concatmt.model.directory import load_model, save_model
from concatmt.serve.app import make_app
from concatmt.serve.config import ServeConfig
from concatmt.serve.server import make_service
from concatmt.text.pipeline import Languages, TextPipeline


@pytest.fixture
def back(folder: Path, tmp_path: Path) -> Path:
    """The same model under the name of the other direction."""
    text = TextPipeline.load(folder / "text")
    settings = text.settings.model_copy(update={"languages": Languages(source="de", target="en")})
    swapped = replace(text, settings=settings)
    save_model(tmp_path / "back", load_model(folder), lambda new: swapped.save(new / "text"))
    return tmp_path / "back"


def test_the_model_that_was_used_longest_ago_makes_room(folder: Path, back: Path) -> None:
    size = sum(path.stat().st_size for path in folder.iterdir())
    limits = {"memory": 2 * size / 1e9}  # room for one: each counts one and a half times
    service = make_service([folder, back], ServeConfig.model_validate({"limits": limits}))
    service.models.load_first()

    def loaded() -> list[tuple[str, str]]:
        return [(pair.source, pair.target) for pair in service.models.loaded]

    assert loaded() == [("en", "de")]
    with TestClient(make_app(service), base_url="http://localhost") as client:  # type: ignore[arg-type]

        def ask(source: str, target: str) -> str:
            fields = {"q": "Hello.", "source": source, "target": target}
            response = client.post("/translate", json=fields)
            assert response.status_code == 200
            return str(response.json()["translatedText"])

        first = ask("en", "de")
        assert ask("de", "en") == first, "the weights are the same"
        assert loaded() == [("de", "en")]
        assert ask("en", "de") == first
        assert loaded() == [("en", "de")]
        fields = {"q": "Guten Tag, wie geht es dir heute?", "source": "auto", "target": "en"}
        found = client.post("/translate", json=fields).json()["detectedLanguage"]
        assert found["language"] == "de"
        languages = client.post("/detect", json={"q": "How are you today, my friend?"}).json()
        assert [one["language"] for one in languages] == ["en", "de"]


def test_two_models_for_one_pair_are_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="one model for each pair"):
        make_service([folder, folder], ServeConfig())
