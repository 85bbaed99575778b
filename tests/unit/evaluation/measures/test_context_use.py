"""CXMI, on scores made by hand."""

import json
from pathlib import Path

import pytest

from concatmt.errors import UserError
from concatmt.evaluation.measures.context_use import context_use, token_gains
from concatmt.evaluation.scores import read_scores
from tests.conftest import Command

HEAD = {"signature": {"system": "s4to4", "context": "0,1,3", "version": "0.1.0"}}


def record(document: str, sentence: int, context: int, *log_probs: float) -> dict[str, object]:
    tokens = [f"w{place}" for place in range(len(log_probs))]
    return {
        "document": document,
        "sentence": sentence,
        "context": context,
        "log_prob": sum(log_probs),
        "tokens": tokens,
        "log_probs": log_probs,
    }


RECORDS = [
    record("a", 0, 0, -1.0, -1.0),  # the first of its document: no context, left out
    record("a", 0, 1, -1.0, -1.0),
    record("a", 1, 0, -4.0, -2.0),
    record("a", 1, 1, -1.0, -2.5),
    record("b", 1, 0, -3.0),
    record("b", 1, 1, -3.5),
]


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return path


def test_cxmi_by_hand(tmp_path: Path) -> None:
    _, sentences = read_scores(write(tmp_path / "scores.jsonl", HEAD, *RECORDS))
    [found] = context_use(sentences)
    # Gains: (-3.5) - (-6) = 2.5 and (-3.5) - (-3) = -0.5; two sentences of three tokens in all.
    assert found.context == 1
    assert found.sentences == 2
    assert found.per_sentence.value == pytest.approx(1.0)
    assert found.per_token == pytest.approx(2 / 3)
    assert found.gaining == 0.5
    assert [one["p_cxmi"] for one in token_gains(sentences)] == [[0, 0], [3, -0.5], [-0.5]]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([HEAD, RECORDS[3]], "scored with context 1; context use needs --context 0"),
        ([HEAD, *RECORDS[:5]], "sentence 1 of document b lacks an amount"),
        ([HEAD], "no sentences"),
        (RECORDS, "line 1: not a line of 'concatmt score'"),
        ([HEAD, RECORDS[2], record("a", 1, 1, -1.0)], "the tokens of a sentence differ"),
    ],
)
def test_scores_that_do_not_serve_are_refused(
    tmp_path: Path, records: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_scores(write(tmp_path / "scores.jsonl", *records))


def test_the_command_prints_a_table_and_writes_every_token(
    concatmt: Command, tmp_path: Path
) -> None:
    write(tmp_path / "scores.jsonl", HEAD, *RECORDS)
    done = concatmt(
        *("inspect", "context-use", "scores.jsonl"),
        *("--output", "use.json", "--html", "use.html"),
    )
    assert done.returncode == 0, done.stderr
    assert "| 1       | +1.000" in done.stdout
    found = json.loads((tmp_path / "use.json").read_text("utf-8"))
    assert found["figures"][0]["per_sentence"]["value"] == pytest.approx(1.0)
    assert len(found["sentences"]) == 3
    page = (tmp_path / "use.html").read_text("utf-8")
    assert page.count('class="token"') == 2 + 5  # two in the legend
    assert 'style="background:rgba(30,150,60,1.00)" title="+3.00">w0' in page


def test_evaluate_takes_files_of_scores_and_keeps_every_token(
    concatmt: Command, tmp_path: Path
) -> None:
    write(tmp_path / "scores.jsonl", HEAD, *RECORDS)
    done = concatmt("evaluate", "scores.jsonl", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert "| 1       | +1.000" in done.stdout
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    [use] = found["context_use"]
    assert use["use"][0]["per_sentence"]["value"] == pytest.approx(1.0)
    lines = (tmp_path / "out" / use["tokens"]).read_text("utf-8").splitlines()
    assert [json.loads(line)["p_cxmi"] for line in lines] == [[0, 0], [3, -0.5], [-0.5]]
