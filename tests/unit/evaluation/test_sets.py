"""Readers of contrastive sets: real files with known counts, and files that are wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.sets import read_set


@pytest.mark.parametrize(
    ("name", "items", "chance", "candidates", "orbits"),
    [  # counted independently; chance of lexical cohesion is not 50 (more than two options)
        ("deixis_test", 2500, 50.00, 5000, 1250),
        ("lex_cohesion_test", 1500, 45.87, 3428, 681),
        ("ellipsis_infl", 500, 20.54, 2520, 499),
        ("ellipsis_vp", 500, 9.70, 5203, 500),
    ],
)
def test_voita_sets_have_their_known_sizes(
    shared: Path, name: str, items: int, chance: float, candidates: int, orbits: int
) -> None:
    found = read_set(shared / "data" / "contrastive" / "voita" / f"{name}.json")
    assert len(found.items) == items
    assert round(100 * found.chance, 2) == chance
    assert sum(len(item.targets) for item in found.items) == candidates
    assert len({item.orbit for item in found.items}) == orbits
    assert all(len(item.source) == 4 for item in found.items)
    repeated = {"ellipsis_infl": 2, "ellipsis_vp": 11}.get(name)
    if repeated:
        assert f"occurs twice in {repeated} item(s)" in (found.remark or "")


def test_contrapro_lines_are_cut_to_the_context_that_both_sides_have(shared: Path) -> None:
    found = read_set(shared / "data" / "contrastive" / "contrapro.jsonl")
    assert len(found.items) == 12_000
    assert sum(len(item.targets) for item in found.items) == 36_031
    assert {len(item.source) for item in found.items} <= {1, 2}
    assert found.cut
    assert "3 source, 1 target" in (found.remark or "")


def write(folder: Path, records: list[Any], name: str = "set.jsonl") -> Path:
    path = folder / name
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(json.dumps(records) if name.endswith(".json") else text)
    return path


ITEM = {"id": "a", "source": ["x", "y"], "context": ["u"], "candidates": ["v", "w"], "correct": 1}


def test_our_items_may_have_candidates_or_whole_windows(tmp_path: Path) -> None:
    windows = {**ITEM, "candidates": [["u", "v"], ["t", "w"]], "orbit": "o", "distance": 2}
    found = read_set(write(tmp_path, [ITEM, windows])).items
    assert found[0].targets == [["u", "v"], ["u", "w"]]
    assert found[1].targets == [["u", "v"], ["t", "w"]]
    assert (found[1].orbit, found[1].distance, found[0].phenomenon) == ("o", 2, "set")


def test_contrapro_takes_its_context_from_the_films(tmp_path: Path) -> None:
    film = tmp_path / "documents" / "2001"
    film.mkdir(parents=True)
    (film / "film.en").write_text("one\ntwo\nthree\nfour\nfive\n")
    (film / "film.de").write_text("eins\nzwei\ndrei\nvier\nfünf\n")
    item = {
        "document id": "film.de",
        "segment id": 5,
        "src segment": "five",
        "ref segment": "fünf",
        "ante distance": 1,
        "ref pronoun": "es",
        "errors": [{"contrastive": "sechs"}],
    }
    path = write(tmp_path, [item], "contrapro.json")
    (found,) = read_set(path, tmp_path / "documents").items
    assert found.source == ["two", "three", "four", "five"]
    assert found.targets[1] == ["zwei", "drei", "vier", "sechs"]
    assert (found.distance, found.correct) == (1, 0)
    assert read_set(path).remark == "no context: documents not given"
    with pytest.raises(UserError, match="has no \\*/film.de"):
        read_set(path, tmp_path)


def test_ctxpro_has_the_expected_form(tmp_path: Path) -> None:
    item = {
        "document id": "de-en/2017/a",
        "segment id": 1,
        "src segment": "She likes you.",
        "ref segment": "Sie mag Sie.",
        "expected": "sie",
        "rule": "ACC.FORM+PLUR",
    }
    (found,) = read_set(write(tmp_path, [item], "ctxpro.json")).items
    assert (found.expected, found.phenomenon) == ("sie", "ACC.FORM+PLUR")
    assert found.targets == [["Sie mag Sie."]]


def test_ctxpro_takes_its_context_from_its_file_of_inputs(tmp_path: Path) -> None:
    item = {
        "document id": "de-en/2017/a",
        "segment id": 1,
        "src segment": "She likes you.",
        "ref segment": "Sie mag Sie.",
        "expected": "sie",
    }
    path = write(tmp_path, [item], "ctxpro.json")
    inputs = tmp_path / "gender.test"
    inputs.write_text("Where is Anna?<eos> At home.<eos> She likes you.\n", "utf-8")
    (found,) = read_set(path, inputs).items
    assert found.source == ["Where is Anna?", "At home.", "She likes you."]
    # Subtitles have control characters in them, the items and their inputs alike.
    item["src segment"] = "\x90 She likes you."
    path = write(tmp_path, [item], "ctxpro.json")
    inputs.write_text("At home.<eos> \x90 She likes you.\n", "utf-8")
    assert len(read_set(path, inputs).items) == 1
    inputs.write_text("At home.<eos> She likes him.\n", "utf-8")
    with pytest.raises(UserError, match="not the last one of its line"):
        read_set(path, inputs)
    inputs.write_text("", "utf-8")
    with pytest.raises(UserError, match="0 lines, but 1 items"):
        read_set(path, inputs)


VOITA = {"src": "a", "dst": ["b", "c"], "true_ind": 0}
FILM = {"document id": "f.de", "src segment": "a", "ref segment": "b", "ref pronoun": "es"}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "no items"),
        ([{"text": "x"}], "line 1: not a contrastive set: has the keys text"),
        ([3], "line 1: expected an object, found int"),
        ([ITEM, {**ITEM, "correct": 2}], "line 2: the correct candidate is 2, but there are 2"),
        ([{**ITEM, "correct": "1"}], "line 1: 'correct' must be a whole number"),
        ([{**ITEM, "candidates": []}], "line 1: no candidates"),
        ([{**ITEM, "candidates": [1, 2]}], "line 1: 'candidates' must be strings"),
        ([{**ITEM, "context": []}], "line 1: 2 source sentences, but a candidate with its context"),
        ([{"src": "a", "dst": "b", "true_ind": 0}], "line 1: 'dst' must be a list of strings"),
        ([ITEM, {"source": ["a"], "correct": 0}], "line 2: 'candidates' must be strings"),
        ([VOITA, {"dst": ["b"], "true_ind": 0}], "line 2: 'src' must be a text"),
        ([VOITA, {"src": "a", "true_ind": 0}], "line 2: 'dst' must be a list of strings"),
        ([FILM, {**FILM, "document id": 3}], "line 2: 'document id' must be a text"),
        ([FILM, {"document id": "f.de"}], "line 2: 'ref segment' must be a text"),
    ],
)
def test_the_first_bad_item_is_reported(tmp_path: Path, records: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_set(write(tmp_path, records))
