"""Requests made from our own OpenAPI description, good ones and broken ones: none is a 500."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from concatmt.serve.app import make_app
from concatmt.serve.config import ServeConfig
from concatmt.serve.server import make_service

schema: Any = schemathesis.pytest.from_fixture("described")


@pytest.fixture(scope="session")
def described(folder: Path) -> Any:
    limits = {"characters": 300, "batch": 8}
    greedy = {"search": {"beam": 2, "length_factor": 0, "length_constant": 3}}
    config = ServeConfig.model_validate(
        {"limits": limits, "translate": greedy, "metrics": True, "hosts": ["testserver", "localhost"]}
    )
    service = make_service([folder], config)
    service.models.load_first()
    return schemathesis.openapi.from_asgi("/openapi.json", make_app(service))


@schema.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_is_our_fault(case: Any) -> None:
    case.headers.pop("Origin", None)
    response = case.call()
    assert response.status_code < 500 or response.status_code in (503, 504), response.text
