"""Kinds of sentences, each in both languages at once.

A kind says which words agree with which; the order of its parts is the language's own.
"""

from collections.abc import Callable

from concatmt.testbed.english import with_article
from concatmt.testbed.surface import Choice, Sentence, Surface
from concatmt.testbed.words import (
    ANTECEDENT_CLASSES,
    PLURAL,
    Address,
    Animate,
    Deed,
    Name,
    Noun,
    Person,
    Phrase,
    Role,
    Verb,
)

MASCULINE = 0
NOMINATIVE = 0


def event(surface: Surface, kind: str, noun: Noun) -> Sentence:
    """`Anna bought the soup yesterday .`: somebody does something with an antecedent."""
    person = surface.pick(surface.language.persons)
    verb = surface.pick(surface.language.verbs[kind])
    return surface.sentence(
        "past",
        {"subject": person.source, "verb": verb.source, "object": f"the {noun.source}"},
        {
            "subject": person.nominative,
            "verb": verb.target[person.gender],
            "object": noun.accusative,
        },
    )


def plain(surface: Surface) -> Sentence:
    """`The guests slept .`, `It rained yesterday .`: no cue of any kind."""
    language = surface.language
    if surface.below(1 + len(language.crowds)) == 0:
        subject, verb = surface.pick(language.weather)
        return surface.sentence(
            "weather",
            {"subject": subject.source, "verb": verb.source},
            {"subject": subject.target, "verb": verb.target},
        )
    crowd, doing = surface.pick(language.crowds), surface.pick(language.doings)
    return surface.sentence(
        "past",
        {"subject": crowd.source, "verb": doing.source},
        {"subject": crowd.target, "verb": doing.target[PLURAL]},
        adjuncts="crowd",
    )


def habit(surface: Surface, person: Person, verb: Phrase) -> Sentence:
    """`Anna sings every day .`"""
    return surface.sentence(
        "habit",
        {"subject": person.source, "verb": verb.source},
        {"subject": person.nominative, "verb": verb.target},
    )


def mention(surface: Surface, name: Name, verb: Verb) -> Choice:
    """`Watson laughed .`, with either rendering of the name."""
    return surface.choice(
        "past",
        {"subject": name.source, "verb": verb.source},
        [{"subject": rendering, "verb": verb.target[MASCULINE]} for rendering in name.target],
        adjuncts="crowd",
    )


def addressed(surface: Surface, address: Address, vocative: Phrase) -> Choice:
    """`You know the way , buddy .`, in the familiar and in the polite form."""
    return surface.choice(
        "address",
        {"subject": "you", "verb": address.source, "vocative": vocative.source},
        [
            {
                "subject": you,
                "verb": verb,
                "object": address.object,
                "vocative": vocative.target,
            }
            for you, verb in zip(surface.language.you, address.target, strict=True)
        ],
    )


def greeted(surface: Surface, address: Address, form: int) -> Sentence:
    """The same in one form, which a vocative makes clear."""
    place = surface.below(len(surface.language.vocatives[form]))
    source, target = surface.language.vocatives[form][place]
    return addressed(surface, address, Phrase(f", {source}", f", {target}")).take(form)


def question(surface: Surface, case: int) -> Sentence:
    """`Whom did Anna help ?`: a question whose answer has this case."""
    language, nominative = surface.language, case == NOMINATIVE
    person = surface.pick(language.persons)
    verb = surface.pick(language.government[0 if nominative else case - 1])
    source = (
        {"subject": "who", "verb": f"{verb.source} {person.source}"}
        if nominative
        else {"subject": f"whom did {person.source}", "verb": verb.infinitive}
    )
    target = {
        "wh": language.questions[case],
        "verb": verb.target[MASCULINE if nominative else person.gender],
        "subject": person.accusative if nominative else person.nominative,
    }
    return surface.sentence("question", source, target, end="?")


def answer(surface: Surface, animate: Animate) -> Choice:
    """`Probably the doctor .`, in every case."""
    opener = surface.pick(surface.language.answers)
    return surface.choice(
        "answer",
        {"opener": opener.source, "subject": f"the {animate.source}"},
        [{"opener": opener.target, "subject": form} for form in animate.target],
    )


def role(surface: Surface, who: Role, gender: int) -> Sentence:
    """`I am a waitress from the south .`"""
    return surface.sentence(
        "role",
        {"subject": "I", "verb": "am", "object": with_article(who.source[gender])},
        {"subject": "я", "object": who.target[gender]},
    )


def confession(surface: Surface, deed: Deed) -> Choice:
    """`I lost the key yesterday .`, said by a man and by a woman."""
    return surface.choice(
        "past",
        {"subject": "I", "verb": deed.source},
        [{"subject": "я", "verb": verb, "object": deed.object} for verb in deed.target],
        adjuncts="mishap",
    )


def ordinary(surface: Surface) -> Sentence:
    """Any sentence that needs no other one; together they show the words that can be held out."""
    kinds = ORDINARY if surface.language.deeds else ORDINARY[:-1]
    return surface.pick(kinds)(surface)


def _event(surface: Surface) -> Sentence:
    kind = surface.pick(ANTECEDENT_CLASSES)
    return event(surface, kind, surface.pick(surface.pick(surface.language.nouns[kind])))


def _state(surface: Surface) -> Sentence:
    """`But the soup was tasty .`"""
    language, kind = surface.language, surface.pick(ANTECEDENT_CLASSES)
    gender = surface.below(len(language.pronouns))
    noun = surface.pick(language.nouns[kind][gender])
    predicate = surface.pick(language.predicates[kind])
    return surface.sentence(
        "state",
        {
            "opener": "but",
            "subject": f"the {noun.source}",
            "verb": "was",
            "predicate": predicate.source,
        },
        {
            "opener": language.conjunctions["but"],
            "subject": noun.nominative,
            "verb": language.copula[gender],
            "predicate": predicate.target[gender],
        },
    )


def _habit(surface: Surface) -> Sentence:
    language = surface.language
    return habit(surface, surface.pick(language.persons), surface.pick(language.habits))


def _somebody(surface: Surface) -> Sentence:
    """`But the doctor sings every day .`"""
    language = surface.language
    animate, verb = surface.pick(language.animates), surface.pick(language.habits)
    return surface.sentence(
        "habit",
        {"opener": "but", "subject": f"the {animate.source}", "verb": verb.source},
        {
            "opener": language.conjunctions["but"],
            "subject": animate.target[NOMINATIVE],
            "verb": verb.target,
        },
    )


def _governed(surface: Surface) -> Sentence:
    """`Anna helped the doctor .`"""
    language = surface.language
    case = 1 + surface.below(len(language.government))
    person, verb = surface.pick(language.persons), surface.pick(language.government[case - 1])
    animate = surface.pick(language.animates)
    return surface.sentence(
        "past",
        {"subject": person.source, "verb": verb.source, "object": f"the {animate.source}"},
        {
            "subject": person.nominative,
            "verb": verb.target[person.gender],
            "object": animate.target[case],
        },
        adjuncts="encounter",
    )


def _greeted(surface: Surface) -> Sentence:
    form = surface.below(len(surface.language.you))
    return greeted(surface, surface.pick(surface.language.addresses), form)


def _deed(surface: Surface) -> Sentence:
    """`Anna lost the key .`"""
    person, deed = surface.pick(surface.language.persons), surface.pick(surface.language.deeds)
    return surface.sentence(
        "past",
        {"subject": person.source, "verb": deed.source},
        {
            "subject": person.nominative,
            "verb": deed.target[person.gender],
            "object": deed.object,
        },
        adjuncts="mishap",
    )


ORDINARY: tuple[Callable[[Surface], Sentence], ...] = (
    plain,
    _event,
    _state,
    _habit,
    _somebody,
    _governed,
    _greeted,
    _deed,
)
