"""Glossaries: terms are found, aimed at by the search, and every hit and miss is counted."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.glossary import Glossary, Term, token_forms
from concatmt.decoding.hypotheses import Window
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.search import Search
from concatmt.decoding.term_search import TermSearch, progress
from concatmt.decoding.translation import Report
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from tests.unit.decoding.models import make_engine, make_model, make_windows, teacher_forced

TERMS = Glossary(
    (
        Term("sea", ("mer", "mers")),
        Term("Black Sea", ("mer Noire",)),
        Term("keeper", ("gardien", "gardienne")),
    )
)


def test_the_longest_term_is_found_once_as_a_word_in_any_case() -> None:
    found = TERMS.found_in("The Keeper of the black  sea, a keeper, no beekeeper, by the SEA.")
    assert [term.source for term in found] == ["keeper", "Black Sea", "sea"]
    assert TERMS.found_in("Seas and keepers.") == []


def test_a_form_counts_as_a_word_and_may_begin_with_a_capital() -> None:
    sea, black = TERMS.terms[0], TERMS.terms[1]
    assert sea.is_in("Mer calme.")
    assert sea.is_in("au bord de l'mer")
    assert not sea.is_in("amertume et merci")
    assert black.is_in("la mer  Noire")
    assert not black.is_in("la mer noire")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sea\n", "line 1: expected a term, a tab"),
        ("sea\tmer\n\tmer\n", "line 2: expected"),
        ("sea\tmer\nSea\tmers\n", "line 2: 'Sea' is listed twice"),
        ("\n", "no terms"),
    ],
)
def test_a_bad_glossary_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "terms.tsv").write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        Glossary.read(tmp_path / "terms.tsv")
    assert "\n" not in str(caught.value)


def test_progress_counts_whole_forms_and_knows_what_goes_on_a_begun_one() -> None:
    terms = [((5, 6), (7,)), ((6, 8, 9),)]
    assert progress([], terms) == (0, 0, {5: (0, 1), 7: (1, 0), 6: (0, 1)})
    assert progress([4, 5], terms) == (0, 1, {5: (0, 1), 6: (1, 1), 7: (1, 0)})
    assert progress([4, 5, 6], terms) == (1, 1, {6: (1, 1), 8: (1, 2)})
    assert progress([7, 6, 8], terms) == (1, 2, {6: (1, 1), 9: (2, 0)})
    assert progress([7, 6, 8, 9], terms) == (2, 0, {})


TOKENS = st.lists(st.integers(1, 3), max_size=8)
FORM = st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple)


@given(TOKENS, st.lists(st.lists(FORM, min_size=1, max_size=3).map(tuple), max_size=3))
def test_progress_foresees_what_it_will_be_after_any_token(
    tokens: list[int], terms: list[tuple[tuple[int, ...], ...]]
) -> None:
    now = progress(tokens, terms)
    for token in range(1, 4):
        later = progress([*tokens, token], terms)
        assert now.after(token) == (later.met, later.begun)


@pytest.mark.parametrize("system", ["base", "s3to3+cd+shift5+pers"])
def test_terms_are_found_by_the_search_and_its_log_probs_are_those_of_teacher_forcing(
    system: str,
) -> None:
    config = SearchConfig(beam=8, length_factor=0.5, length_constant=8)
    engine, model = make_engine(system), make_model(system)
    terms = ((20, 21), (22,)), ((30, 31, 32),)
    windows = [
        Window(w.source, w.forced, w.number, terms)
        for w in make_windows(4, 1 if system == "base" else 3)
    ]
    found = Search(engine, config, strategy=TermSearch(engine, config)).run(windows, [1] * 4)
    for window, hypotheses in zip(windows, found, strict=True):
        whole = [one for one in hypotheses if progress(one.sentences[-1], terms).met == 2]
        assert whole  # though the model would say nothing of the kind
        assert len(whole[0].sentences) == len(window.source)
        forced = teacher_forced(model, [list(s) for s in window.source], whole[0].sentences)
        torch.testing.assert_close(
            torch.tensor(whole[0].log_probs), torch.tensor(forced), rtol=1e-4, atol=1e-4
        )


def test_without_terms_the_search_is_the_ordinary_one_but_for_ties() -> None:
    config = SearchConfig(beam=4, length_factor=1.0, length_constant=5, stop="certain")
    engine = make_engine("base")
    windows = make_windows(8, 1)
    plain = Search(engine, config).run(windows)
    aimed = Search(engine, config, strategy=TermSearch(engine, config)).run(windows)
    assert [of[0].tokens for of in aimed] == [of[0].tokens for of in plain]


@pytest.mark.parametrize("mode", ["prefix", "redecode"])
def test_a_translator_honours_its_glossary_and_counts_every_term(
    model_folder: Path, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "terms.tsv").write_text("house\tGarten\tGartens\ngarden\tein Haus\n")
    loaded = LoadedModel.load(model_folder)
    config = TranslateConfig(
        mode=mode,
        search=SearchConfig(beam=2, length_factor=0.3, length_constant=12),
        pool=PoolConfig(threads=1),
        glossary=tmp_path / "terms.tsv",
    )
    translator = Translator(loaded.engine, loaded.text, config, loaded.identity)
    report = Report()
    document = ["The house is old.", "It has a garden.", "Anna likes it.", "A house, a garden."]
    texts = [one.text for one in translator.translate_document(document, report=report)]
    kept = {
        "house": sum(Term("", ("Garten", "Gartens")).is_in(texts[i]) for i in (0, 3)),
        "garden": sum(Term("", ("ein Haus",)).is_in(texts[i]) for i in (1, 3)),
    }
    assert report.terms == {"house": [2, kept["house"]], "garden": [2, kept["garden"]]}
    assert sum(kept.values()) >= 3  # of four, by a model that knows nothing
    assert f"glossary: {sum(kept.values())} of 4 terms honoured" in report.messages(config)
    assert "glossary:" in str(translator.signature)


def test_forms_are_tokens_in_a_sentence_at_its_beginning_and_after_an_elision(
    model_folder: Path,
) -> None:
    codec = LoadedModel.load(model_folder).text.target
    forms = token_forms(Term("x", ("alt",)), codec)
    assert {codec.decode(form) for form in forms} <= {"alt", "Alt"}
    assert len(forms) == 3
