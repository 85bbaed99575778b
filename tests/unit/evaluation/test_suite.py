"""What runs are evaluated on is found in files and folders."""

import json
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.suite import read_suite
from tests.unit.evaluation.runs import make_testbed

PAIR = ("en", "de")


def test_a_testbed_has_sets_expected_forms_and_a_text(tmp_path: Path) -> None:
    suite = read_suite([str(make_testbed(tmp_path / "testbed"))], PAIR)
    assert [one.name for one in suite.sets] == ["tv"]
    assert [(one.name, len(one.items)) for one in suite.expected] == [("expected", 12)]
    [text] = suite.texts
    assert [part.document for part in text.parts()] == ["1", "2", "3"]
    assert len(text.parts(2)) == 2
    assert text.parts()[0].gold is not None


def test_the_bounds_of_a_testbed_are_those_of_its_card(tmp_path: Path) -> None:
    folder = make_testbed(tmp_path / "testbed")
    assert read_suite([str(folder)], PAIR).bounds == {}
    found = {"bounds_with_target": {"current only": {"all": 50.0, "conflict": 50.0}}}
    (folder / "card.json").write_text(json.dumps({"tasks": {"tv": found}}), "utf-8")
    suite = read_suite([str(folder)], PAIR)
    assert suite.bounds == {"tv": {"current only": 50.0}}
    assert len(suite.sets) == 1


def test_a_folder_of_sets_is_read_without_its_development_sets(tmp_path: Path) -> None:
    item = {"src": "a _eos b", "dst": ["c _eos d", "c _eos e"], "true_ind": 0}
    for name in ("deixis_test.json", "deixis_dev.json"):
        (tmp_path / name).write_text(json.dumps(item) + "\n", "utf-8")
    suite = read_suite([str(tmp_path)], PAIR)
    assert [one.path.name for one in suite.sets] == ["deixis_test.json"]


def test_contrapro_is_contrastive_and_generative_and_ctxpro_generative(tmp_path: Path) -> None:
    item = {"document id": "film.de", "src segment": "It .", "ref segment": "Es ."}
    contrapro = {**item, "ref pronoun": "es", "errors": [{"contrastive": "Er ."}]}
    (tmp_path / "contrapro.json").write_text(json.dumps([contrapro]), "utf-8")
    (tmp_path / "ctxpro.json").write_text(json.dumps([{**item, "expected": "es"}]), "utf-8")
    suite = read_suite([str(tmp_path / f"{name}.json") for name in ("contrapro", "ctxpro")], PAIR)
    assert [one.name for one in suite.sets] == ["contrapro"]
    assert [one.name for one in suite.expected] == ["contrapro", "ctxpro"]


def test_texts_are_pairs_or_documents_with_references(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("x\n", "utf-8")
    (tmp_path / "a.de").write_text("y\n", "utf-8")
    line = json.dumps({"id": "1", "source": ["x"], "target": ["y"]})
    (tmp_path / "docs.jsonl").write_text(line + "\n", "utf-8")
    suite = read_suite([f"{tmp_path}/a.en,{tmp_path}/a.de", str(tmp_path / "docs.jsonl")], PAIR)
    assert [text.parts()[0].gold for text in suite.texts] == [["y"], ["y"]]
    assert [text.references.documents for text in suite.texts] == [(("y",),), (("y",),)]
    assert [text.path.name for text in suite.texts] == ["a.de", "docs.jsonl"]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = make_testbed(tmp_path / "testbed")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare.jsonl").write_text('{"id": "a", "expected": ["b"]}\n', "utf-8")
    tv = folder / "contrastive" / "tv.jsonl"
    cases = {
        (str(tmp_path / "none"),): "no such file or folder",
        (str(tmp_path / "empty"),): "nothing to evaluate on: .* no test.en with test.de",
        (str(tmp_path / "bare.jsonl"),): "item a has no 'source' to translate",
        (f"{folder}/test.en,{folder}/test.fr",): "test.fr: no such file",
        ("a,b,c,d",): "as SOURCE,REFERENCE",
    }
    for given, message in cases.items():
        with pytest.raises(UserError, match=message):
            read_suite(given, PAIR)
    copy = tmp_path / "tv.jsonl"
    copy.write_bytes(tv.read_bytes())
    with pytest.raises(UserError, match="item 'tv-0-0' of tv is also in"):
        read_suite([str(tv), str(copy)], PAIR)
    suite = read_suite([str(tv)], PAIR)
    assert suite.has("sets")
    assert not suite.has("texts")


def test_documents_of_a_text_are_read_from_a_file_of_ids_beside_it(tmp_path: Path) -> None:
    # Three documents of two lines, without a blank line between them.
    (tmp_path / "test.en").write_text("a\nb\nc\nd\ne\nf\n", "utf-8")
    (tmp_path / "test.de").write_text("A\nB\nC\nD\nE\nF\n", "utf-8")
    (tmp_path / "test.docs").write_text("1\n1\n2\n2\n1\n1\n", "utf-8")
    (tmp_path / "test.starts").write_text("1\n3\n5\n", "utf-8")
    for given in (
        str(tmp_path),
        f"{tmp_path}/test.en,{tmp_path}/test.de,{tmp_path}/test.docs",
        f"{tmp_path}/test.en,{tmp_path}/test.de,{tmp_path}/test.starts",
    ):
        [text] = read_suite([given], PAIR).texts
        assert [(part.source, part.gold) for part in text.parts()] == [
            (["a", "b"], ["A", "B"]),
            (["c", "d"], ["C", "D"]),
            (["e", "f"], ["E", "F"]),
        ]
        assert len({part.document for part in text.parts()}) == 3
        assert text.remark is None


def test_the_test_split_of_a_configuration_is_read_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "t.en").write_text("<talkid>1</talkid>\na\nb\n<talkid>2</talkid>\nc\n", "utf-8")
    (tmp_path / "t.de").write_text("<talkid>1</talkid>\nA\nB\n<talkid>2</talkid>\nC\n", "utf-8")
    wit3 = "{format: wit3, source: t.en, target: t.de}"
    head = f"languages: {{source: en, target: de}}\ncorpus:\n  root: {tmp_path}\n  splits:\n"
    (tmp_path / "c.yaml").write_text(f"{head}    test: [{wit3}]\n", "utf-8")
    [text] = read_suite([str(tmp_path / "c.yaml")], PAIR).texts
    assert [part.gold for part in text.parts()] == [["A", "B"], ["C"]]
    (tmp_path / "c.yaml").write_text(f"{head}    train: [{wit3}]\n", "utf-8")
    with pytest.raises(UserError, match="no 'test' to evaluate on; it has train"):
        read_suite([str(tmp_path / "c.yaml")], PAIR)


def test_a_text_that_seems_to_be_one_document_is_given_a_remark(tmp_path: Path) -> None:
    for side in ("en", "de"):
        (tmp_path / f"a.{side}").write_text("x\n" * 3602, "utf-8")
    [text] = read_suite([f"{tmp_path}/a.en,{tmp_path}/a.de"], PAIR).texts
    assert "all 3,602 sentences are one document; if that is wrong" in (text.remark or "")
