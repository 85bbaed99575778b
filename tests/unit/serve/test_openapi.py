"""Requests made from our own OpenAPI description, good ones and broken ones: none is a 500."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from concatmt.serve.app import make_app
from concatmt.serve.config import ServeConfig
from concatmt.serve.server import make_service

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
EXAMPLES = 8  # requests of each kind for each route
ROUTES = [
    *("POST /translate", "POST /detect", "GET /languages", "POST /translate_file"),
    *("GET /download_file/{filename}", "POST /suggest", "GET /frontend/settings", "GET /health"),
    *("POST /v2/translate", "POST /v2/document", "POST /v2/document/{name}"),
    *("POST /v2/document/{name}/result", "POST /documents", "GET /documents/{name}"),
    *("PATCH /documents/{name}", "GET /documents/{name}/file", "DELETE /documents/{name}"),
    "GET /metrics",
]


@pytest.fixture(scope="session")
def described(folder: Path) -> Any:
    limits = {"characters": 300, "batch": 8}
    short = {"search": {"beam": 2, "length_factor": 0, "length_constant": 3}}
    given = {"limits": limits, "translate": short, "metrics": True, "hosts": ["testserver"]}
    service = make_service([folder], ServeConfig.model_validate(given))
    service.models.load_first()
    schema = schemathesis.openapi.from_asgi("/openapi.json", make_app(service))
    operations = (result.ok() for result in schema.get_all_operations())
    return {one.label: one for one in operations}


def test_all_routes_are_described_and_tried(described: Any) -> None:
    assert set(described) == set(ROUTES)


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("route", ROUTES)
def test_no_request_is_our_fault(described: Any, route: str, mode: str) -> None:
    cases = described[route].as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    @given(cases)
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), derandomize=True)
    def call(case: Any) -> None:
        response = case.call()
        assert response.status_code not in (500, 501, 502), response.text

    try:
        call()
    except (Unsatisfiable, unittest.SkipTest):
        assert mode == "negative", "a good request can be made"
        pytest.skip("nothing can be wrong with its requests")
