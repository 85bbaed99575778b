"""Keys and limits."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.serve.access import add_key, find_key, read_keys
from tests.unit.serve.conftest import MakeClient

GOOD = {"q": "Hello.", "source": "en", "target": "de"}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys.txt"


def test_a_key_is_shown_once_and_only_its_hash_is_kept(keys: Path) -> None:
    key = add_key(keys, "editor")
    text = keys.read_text()
    assert len(key) >= 32
    assert key not in text
    assert hashlib.sha256(key.encode()).hexdigest() in text
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    found = find_key(read_keys(keys), key)
    assert found is not None
    assert found.name == "editor"
    assert find_key(read_keys(keys), key + "x") is None
    with pytest.raises(UserError, match="there is a key 'editor' already"):
        add_key(keys, "editor")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("secret", "must be a list of keys"),
        ("- name: a\n  sha256: abc", r"key 1: sha256: .* found 'abc'"),
        ("- name: a\n  sha1: abc", "unknown key"),
        ("[", "cannot be read"),
    ],
)
def test_a_bad_file_of_keys_is_told(keys: Path, text: str, message: str) -> None:
    keys.write_text(text)
    with pytest.raises(UserError, match=message):
        read_keys(keys)


def test_without_the_right_key_nothing_is_translated(make_client: MakeClient, keys: Path) -> None:
    key = add_key(keys, "editor")
    client = make_client(api_keys=str(keys), metrics=True)
    response = client.post("/translate", json=GOOD)
    assert response.status_code == 400
    assert response.json() == {"error": "Please contact the server operator to get an API key"}
    response = client.post("/translate", json=GOOD | {"api_key": "wrong"})
    assert (response.status_code, response.json()) == (403, {"error": "Invalid API key"})
    assert client.post("/translate", data=GOOD | {"api_key": key}).status_code == 200
    assert client.get("/frontend/settings").json()["keyRequired"] is True
    deepl = {"text": ["Hello."], "target_lang": "DE"}
    assert client.post("/v2/translate", json=deepl).status_code == 403
    header = {"Authorization": f"DeepL-Auth-Key {key}"}
    assert client.post("/v2/translate", json=deepl, headers=header).status_code == 200
    assert client.get("/metrics").status_code == 400
    header = {"Authorization": f"Bearer {key}"}
    assert "concatmt_requests_total" in client.get("/metrics", headers=header).text


def test_documents_belong_to_their_key(make_client: MakeClient, keys: Path) -> None:
    mine, other = ({"Authorization": f"Bearer {add_key(keys, name)}"} for name in ("mine", "other"))
    client = make_client(api_keys=str(keys))
    document = {"text": "Hello.", "source": "en", "target": "de"}
    place = client.post("/documents", json=document, headers=mine).headers["location"]
    assert client.get(place, headers=mine).status_code == 200
    assert client.get(place, headers=other).status_code == 404


def test_a_key_has_limits_of_its_own(make_client: MakeClient, keys: Path) -> None:
    key = add_key(keys, "editor")
    keys.write_text(keys.read_text() + "  characters: 10\n  requests_per_minute: 2\n")
    client = make_client(api_keys=str(keys))
    request = GOOD | {"api_key": key}
    response = client.post("/translate", json=request | {"q": "x" * 11})
    assert response.json() == {"error": "Invalid request: request (11) exceeds text limit (10)"}
    assert [client.post("/translate", json=request).status_code for _ in range(2)] == [200, 200]
    response = client.post("/translate", json=request)
    assert response.status_code == 429
    assert response.json() == {"error": "Slowdown: 2 per 1 minute"}
    assert 0 < int(response.headers["retry-after"]) <= 60


def test_a_list_costs_as_many_requests_as_it_has_texts(make_client: MakeClient) -> None:
    client = make_client(limits={"requests_per_minute": 3})
    assert client.post("/translate", json=GOOD | {"q": ["a", "b", "c"]}).status_code == 200
    assert client.post("/translate", json=GOOD).status_code == 429
