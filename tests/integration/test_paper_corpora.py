"""The paper's own settings from end to end, on miniature copies of the files as they are published.

Every corpus is written in the layout and format that docs/data.md describes; models are tiny.
"""

import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU

from concatmt.cli import app as command_line
from concatmt.decoding import contrast
from concatmt.decoding.scoring import ScoringItem, score_items
from concatmt.errors import UserError
from concatmt.paper import commands, material, runner
from concatmt.paper.printed import paper
from concatmt.paper.results import Results, _read_gz
from concatmt.paper.setting import SETTINGS
from tests.conftest import Command

RATE = 1e-3
TINY = (
    "model.dim=16",
    "model.encoder={layers: 1, heads: 2, feed_forward: 16}",
    "model.decoder={layers: 1, heads: 2, feed_forward: 16}",
    "text.merges=60",
    "training.tokens_per_update=256",
    "training.batch.tokens=256",
    "training.validate_every=2",
    "training.max_updates=2",
)
WORDS = ("the dog saw it", "it was red", "she sold the car", "we liked the film", "he is here")
OTHERS = ("der hund sah ihn", "er war rot", "sie verkaufte es", "wir mochten sie", "er ist hier")
FILM = ("the cat is new .", "the house is old .", "it is red .", "we saw it .")
FILM_DE = ("die katze ist neu .", "das haus ist alt .", "sie ist rot .", "wir sahen es .")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def documents(words: Sequence[str], number: int, size: int) -> list[list[str]]:
    return [[words[(i + 2 * j) % len(words)] for j in range(size)] for i in range(number)]


def voita_layout(root: Path) -> None:
    """Voita's archive `context_aware`, and `consistency_testsets` of her repository."""
    for language, words in (("en", WORDS), ("ru", OTHERS)):
        for split, number in (("train", 30), ("dev", 4), ("test", 3)):
            lines = [" _eos ".join(one) for one in documents(words, number, 4)]
            write(root / "context_aware" / f"{language}_{split}", "".join(f"{x}\n" for x in lines))
    for name in ("deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp"):
        twins = [
            {
                "src": " _eos ".join([context, WORDS[1], WORDS[2], WORDS[3]]),
                "dst": [" _eos ".join([other, OTHERS[1], OTHERS[2], x]) for x in OTHERS[3:]],
                "true_ind": 0,
                "ctx_dist": 3,
            }
            for context, other in zip(WORDS[:2], OTHERS[:2], strict=True)
        ]
        write(root / "consistency_testsets" / f"{name}.json", json.dumps(twins))


def contrapro_item(film: str, line: int, distance: int) -> dict[str, Any]:
    return {
        "document id": f"{film}.de",
        "segment id": line,
        "source": f"{film}.en",
        "src segment": "it is red .",
        "ref segment": "sie ist rot .",
        "src pronoun": "it",
        "ref pronoun": "sie",
        "ante distance": distance,
        "intrasegmental": distance == 0,
        "errors": [{"contrastive": f"{word} ist rot ."} for word in ("er", "es")],
    }


def talks(words: Sequence[str], number: int) -> str:
    bodies = ("".join(f" {line} \n" for line in one) for one in documents(words, number, 6))
    return "".join(
        f"<url>http://talk/{i}</url>\n<talkid>{i}</talkid>\n<title>{words[0]}</title>\n"
        f"<description>{words[1]}</description>\n{body}"
        for i, body in enumerate(bodies)
    )


def xml(words: Sequence[str]) -> str:
    body = "".join(
        f'<doc docid="{i}" genre="lectures">\n'
        + "".join(f'<seg id="{j}"> {line} </seg>\n' for j, line in enumerate(one, start=1))
        + "</doc>\n"
        for i, one in enumerate(documents(words, 2, 3))
    )
    return f'<mteval>\n<srcset setid="test" srclang="english">\n{body}</srcset>\n</mteval>\n'


def german_layout(root: Path) -> None:
    """WIT3's release, WMT17's texts, and ContraPro after its script has extracted the films.

    One film has the cat before the pronoun, the other the house: all else is equal.
    """
    for language, words in (("en", WORDS), ("de", OTHERS)):
        write(root / "iwslt17" / f"train.tags.en-de.{language}", talks(words, 8))
        for year in range(2011, 2016):
            name = f"IWSLT17.TED.tst{year}.en-de.{language}.xml"
            write(root / "iwslt17" / name, xml(words))
        for name in ("europarl-v7", "commoncrawl", "news-commentary-v12", "rapid2016"):
            text = "".join(f"{line}\n" for line in words)
            write(root / "wmt17" / f"{name}.de-en.{language}", text * 4)
    folder = root / "contrapro" / "documents" / "1999"
    for language, film in (("en", FILM), ("de", FILM_DE)):
        for name, order in (("cat", (0, 2, 3)), ("house", (1, 2, 3))):
            write(folder / f"{name}.{language}", "".join(f"{film[i]}\n" for i in order))
        write(folder / f"start.{language}", f"{film[2]}\n")
    items = [contrapro_item("cat", 2, 1), contrapro_item("house", 2, 1)]
    items.append(contrapro_item("start", 1, 0))  # the antecedent is in the sentence itself
    write(root / "contrapro" / "contrapro.json", json.dumps(items))


LAYOUTS = {
    "en-ru-opensubtitles": voita_layout,
    "en-de-iwslt17": german_layout,
    "en-de-high-resource": german_layout,
}
# setting, table, systems that are run, items with context, BLEU's options
CASES = [
    (
        *("en-ru-opensubtitles", "en-ru-cd", ("s4to4", "s4to4+cd")),
        "deixis_test 2/2, lex_cohesion_test 2/2, ellipsis_infl 2/2, ellipsis_vp 2/2",
        {"lowercase": True, "tokenize": "none", "smooth_method": "none"},
    ),
    (
        *("en-de-iwslt17", "en-de-cd", ("s4to4", "s4to4+cd"), "contrapro 2/3"),
        {"tokenize": "13a", "smooth_method": "none"},
    ),
    (
        *("en-de-high-resource", "en-de-high-resource", ("s4to4+cd", "s4to4+cd+lrn+pers")),
        *("contrapro 2/3", {"tokenize": "13a", "smooth_method": "none"}),
    ),
]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """One learning rate, and runs in this process: `paper run` as it would be started."""
    for name in LAYOUTS:
        monkeypatch.setitem(SETTINGS, name, SETTINGS[name].model_copy(update={"rates": (RATE,)}))

    def run_here(started: Sequence[tuple[Any, list[str]]], _: int) -> list[Any]:
        for _, command in started:
            command_line.app(args=command[3:], standalone_mode=False)
        return []

    monkeypatch.setattr(runner, "run_here", run_here)


def table(name: str, which: str, root: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """What `concatmt paper` prints."""
    changes = [word for one in (*TINY, f"corpus.root={root}") for word in ("--set", one)]
    arguments = ["paper", which, "--setting", name, "--work", "work", "--results", "results"]
    capsys.readouterr()
    command_line.app(args=[*arguments, *changes, *more], standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_table_on_the_papers_files_is_scored_with_context_and_by_its_conventions(
    case: tuple[str, str, tuple[str, ...], str, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, which, systems, counts, options = case
    monkeypatch.chdir(tmp_path)
    LAYOUTS[name](tmp_path / "corpora")
    whole = paper().tables[which]
    few = whole.model_copy(update={"rows": {row: whole.rows[row] for row in systems}})
    tables = {**paper().tables, which: few}
    small = paper().model_copy(update={"tables": tables})
    monkeypatch.setattr(commands, "paper", lambda: small)
    asked: list[ScoringItem] = []

    def spy(engine: Any, items: Sequence[ScoringItem], pool: Any) -> Any:
        asked.extend(items)
        return score_items(engine, items, pool)

    monkeypatch.setattr(contrast, "score_items", spy)
    printed = table(name, which, tmp_path / "corpora", capsys)
    assert f"items with context: {counts}; counted in the table: " in printed
    # Of ContraPro's three items one has its antecedent in the sentence itself.
    counted = "2, those with d>0 alone, as in the paper" if whole.items == "d>0" else "3; ties"
    assert f"counted in the table: {'8; ties' if 'deixis' in counts else counted}" in printed
    results = Results(Path("results") / name)
    assert {one.system for one in results.runs()} == set(systems)
    for record in results.runs():
        # Twins have one current sentence and the same candidates: only the context can make
        # their scores differ.
        path = results.folder / "items" / f"{record.name}.jsonl.gz"
        first, second = (json.loads(line)["scores"] for line in _read_gz(path)[:2])
        assert first != second
        texts = (results.translations(record).sentences, results.references().sentences)
        if name.startswith("en-ru"):
            ours, theirs = ([" ".join(t[i : i + 4]) for i in range(0, len(t), 4)] for t in texts)
        else:
            ours, theirs = texts
        expected = BLEU(**options).corpus_score(ours, [theirs]).score
        assert record.bleu == pytest.approx(expected)
        assert f"unit:{SETTINGS[name].convention}" in record.bleu_signature
    contexts = {tuple(map(tuple, item.source[:-1])) for item in asked[:2]}
    assert len(contexts) == 2
    assert asked[0].source[-1] == asked[1].source[-1]
    expected_length = 4 if name.startswith("en-ru") else 2
    assert len(asked[0].source) == len(asked[0].targets[0]) == expected_length
    shown = "accuracy: on 8 items" if name.startswith("en-ru") else "accuracy: on 3 items"
    assert (shown if name != "en-de-high-resource" else "accuracy: on 2 items") in printed


@pytest.mark.usefixtures("in_process")
def test_results_that_were_scored_without_context_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "en-de-high-resource"
    monkeypatch.chdir(tmp_path)
    german_layout(tmp_path / "corpora")
    whole = paper().tables[name]
    few = whole.model_copy(update={"rows": {"s4to4+cd": whole.rows["s4to4+cd"]}})
    small = paper().model_copy(update={"tables": {**paper().tables, name: few}})
    monkeypatch.setattr(commands, "paper", lambda: small)
    table(name, name, tmp_path / "corpora", capsys)
    lines = Path("results", name, "runs.jsonl")
    record = json.loads(lines.read_text())
    del record["signature"]["context"]  # as the runs of older versions
    lines.write_text(json.dumps(record) + "\n")
    with pytest.raises(UserError, match="scored without the contexts of contrapro"):
        table(name, name, tmp_path / "corpora", capsys)
    with pytest.raises(UserError, match="has runs made with --set"):
        table(name, name, tmp_path / "corpora", capsys, "--set", "model.dropout=0")


MISSING = [
    ("contrapro/contrapro.json", "contrapro.json: missing: a contrastive set"),
    ("contrapro/documents", "documents: missing: the subtitles"),
    ("contrapro/documents/1999/cat.de", "has no */cat.de"),
    ("iwslt17/IWSLT17.TED.tst2015.en-de.de.xml", "tst2015.en-de.de.xml: missing: corpora"),
    ("wmt17/rapid2016.de-en.en", "rapid2016.de-en.en: missing: corpora"),
]


@pytest.mark.parametrize(("what", "said"), MISSING, ids=[what for what, _ in MISSING])
def test_what_is_missing_is_named_before_anything_is_trained(
    what: str, said: str, tmp_path: Path
) -> None:
    german_layout(tmp_path / "corpora")
    (tmp_path / "corpora" / what).rename(tmp_path / "elsewhere")
    where = SETTINGS["en-de-iwslt17"].changed([*TINY, f"corpus.root={tmp_path / 'corpora'}"])
    with pytest.raises(UserError) as refused:
        material.check(where, tmp_path / "work", "local", 1)
    assert said in str(refused.value)
    assert not (tmp_path / "work").exists()


def test_a_full_disk_is_seen_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german_layout(tmp_path / "corpora")
    where = SETTINGS["en-de-iwslt17"].changed([f"corpus.root={tmp_path / 'corpora'}"])
    # Transformer-base with 32,000 shared embeddings: 16.4 + 44.1 million weights, 12 copies of
    # four bytes for a run.
    material.check(where, tmp_path / "work", "local", 1)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2_800_000_000))
    with pytest.raises(UserError, match=r"2.8 GB are free, but 1 runs need about 2.9 GB"):
        material.check(where, tmp_path / "work", "local", 1)


def test_a_set_without_contexts_is_refused_whatever_its_format(tmp_path: Path) -> None:
    german_layout(tmp_path)
    lines = {"src": "it is red .", "ref": "sie ist rot .", "contrastive": ["er ist rot ."]}
    bare = {**lines, "src_context": [], "ref_context": [], "ante_distance": 1}
    write(tmp_path / "contrapro" / "contrapro.json", json.dumps(bare) + "\n")
    where = SETTINGS["en-de-iwslt17"].changed([f"corpus.root={tmp_path}"])
    with pytest.raises(UserError, match="1 of 1 items have no context"):
        material.contrastive_sets(where, tmp_path / "work")


def test_the_command_says_in_one_line_what_is_missing(concatmt: Command) -> None:
    for name, which in (("en-de-iwslt17", "en-de-cd"), ("en-ru-opensubtitles", "en-ru-cd")):
        refused = concatmt("paper", which, "--setting", name)
        assert refused.returncode == 2
        [line] = refused.stderr.splitlines()
        assert "missing: corpora of" in line
        assert "docs/data.md" in line


def test_a_plan_names_the_changes_in_every_command(concatmt: Command) -> None:
    changes = ("corpus.root=my corpora", "text.merges=24000")
    flags = [word for one in changes for word in ("--set", one)]
    planned = concatmt("paper", "en-de-cd", "--setting", "en-de-iwslt17", "--dry-run", *flags)
    lines = [line for line in planned.stdout.splitlines() if line.startswith("concatmt ")]
    assert len(lines) == 45  # 11 systems at 4 learning rates, and the store
    for line in lines:
        assert set(changes) <= set(shlex.split(line))
