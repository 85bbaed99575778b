"""Every form of both lexicons against tables that were written by hand; see *_table.py."""

from typing import Any

import pytest

from concatmt.testbed.dials import LANGUAGES
from concatmt.testbed.english import with_article
from tests.unit.testbed.reader import TABLES, rows

GENDERS = "mfn"
PAIRS = sorted(LANGUAGES)
Rows = list[list[str]]


def assert_same(lexicon: list[list[Any]], table: str) -> None:
    assert sorted(lexicon) == sorted(rows(table))


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_nouns_have_the_gender_and_the_cases_of_the_table(pair: str) -> None:
    lexicon = [
        [noun.source, kind, GENDERS[gender], noun.nominative, noun.accusative]
        for kind, genders in LANGUAGES[pair].nouns.items()
        for gender, nouns in enumerate(genders)
        for noun in nouns
    ]
    assert_same(lexicon, TABLES[pair].NOUNS)


def test_predicates_agree_in_gender(pair: str) -> None:
    lexicon = [
        [predicate.source, kind, *predicate.target]
        for kind, predicates in LANGUAGES[pair].predicates.items()
        for predicate in predicates
    ]
    assert_same(lexicon, TABLES[pair].PREDICATES)


def test_past_verbs_agree_in_gender_and_number(pair: str) -> None:
    language = LANGUAGES[pair]
    verbs = [verb for verbs in language.verbs.values() for verb in verbs] + [*language.doings]
    assert_same([[verb.source, *verb.target] for verb in verbs], TABLES[pair].PAST)


def test_verbs_govern_the_case_of_the_table(pair: str) -> None:
    lexicon = [
        [verb.infinitive, verb.source, TABLES[pair].CASES[1 + case], *verb.target]
        for case, verbs in enumerate(LANGUAGES[pair].government)
        for verb in verbs
    ]
    assert_same(lexicon, TABLES[pair].GOVERNMENT)


def test_people_decline_as_animates_and_weak_nouns(pair: str) -> None:
    lexicon = [[animate.source, *animate.target] for animate in LANGUAGES[pair].animates]
    assert_same(lexicon, TABLES[pair].ANIMATES)


def test_first_names_have_their_gender_and_accusative(pair: str) -> None:
    lexicon = [
        [person.source, GENDERS[person.gender], person.nominative, person.accusative]
        for person in LANGUAGES[pair].persons
    ]
    assert_same(lexicon, TABLES[pair].PERSONS)


def test_habits_are_in_the_third_person(pair: str) -> None:
    assert_same([list(verb) for verb in LANGUAGES[pair].habits], TABLES[pair].HABITS)


def test_address_agrees_with_the_familiar_and_the_polite_pronoun(pair: str) -> None:
    language = LANGUAGES[pair]
    lexicon = [[entry.source, *entry.target, entry.object] for entry in language.addresses]
    assert_same(lexicon, TABLES[pair].ADDRESSES)
    vocatives = [
        [phrase.source, form]
        for form, phrases in zip(("familiar", "polite"), language.vocatives, strict=True)
        for phrase in phrases
    ]
    assert_same(vocatives, TABLES[pair].VOCATIVES)


def test_roles_and_deeds_have_a_form_for_each_gender(pair: str) -> None:
    language = LANGUAGES[pair]
    assert_same([[*role.source, *role.target] for role in language.roles], TABLES[pair].ROLES)
    deeds = [[deed.source, *deed.target, deed.object] for deed in language.deeds]
    assert_same(deeds, TABLES[pair].DEEDS)


def test_names_have_the_two_renderings_of_the_table(pair: str) -> None:
    assert_same([[name.source, *name.target] for name in LANGUAGES[pair].names], TABLES[pair].NAMES)


def test_closed_classes_are_those_of_the_table(pair: str) -> None:
    language, table = LANGUAGES[pair], TABLES[pair]
    assert language.pronouns == table.PRONOUNS
    assert language.copula == table.COPULA
    assert language.ordinals == table.ORDINALS
    assert language.you == table.YOU
    assert language.questions == table.QUESTIONS


def test_the_article_is_an_before_a_vowel() -> None:
    articles = {
        word: with_article(word).split()[0]
        for row in rows(TABLES["en-ru"].ROLES)
        for word in row[:2]
    }
    assert {word for word, article in articles.items() if article == "an"} == {"actor", "actress"}


def test_all_cells_of_nouns_have_the_same_size_so_that_twins_draw_the_same_places(
    pair: str,
) -> None:
    sizes = {len(nouns) for genders in LANGUAGES[pair].nouns.values() for nouns in genders}
    assert len(sizes) == 1
