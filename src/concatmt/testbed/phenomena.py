"""The phenomena: each is a function that puts a latent of its task into words.

It gives a sentence for every cue, and the current sentence with one candidate per label; the
sentences in between are added by `scenes`. To add a phenomenon, write its latent space in
`latents`, one function here, and enter both in SPACES and PHENOMENA.
"""

from collections.abc import Callable, Mapping

from concatmt.testbed import sentences
from concatmt.testbed.latents import Latent
from concatmt.testbed.surface import Choice, Sentence, Surface, capitalised
from concatmt.testbed.words import ANTECEDENT_CLASSES, Phrase, Predicate

Cues = dict[int, Sentence]  # distance -> sentence
SILENCE = Phrase("", "")


def anaphora(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`pron`, `recent`, `far`: `It was tasty .` -> Он был вкусный . / Er war lecker ."""
    kind, predicate = _topic(surface)
    cues = _antecedents(latent, surface, kind)
    return cues, _verdict(surface, "it", surface.language.pronouns, predicate)


def ordinal(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`The first one was tasty .` -> Первая была вкусная . / Die erste war lecker ."""
    kind, predicate = _topic(surface)
    cues = _antecedents(latent, surface, kind)
    which = int(latent.current[0][1])
    subject = ("the first one", "the second one")[which]
    return cues, _verdict(surface, subject, surface.language.ordinals[which], predicate)


def d0(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`Anna bought the soup , and it was tasty .`: nothing but this sentence is needed."""
    language = surface.language
    kind, predicate = _topic(surface)
    here, there = surface.several(range(len(language.nouns[kind][0])), 2)
    cues = {
        distance: sentences.event(surface, kind, language.nouns[kind][cue.value][there])
        for distance, cue in latent.cues.items()
    }
    main = sentences.event(surface, kind, language.nouns[kind][latent.label][here])
    opening = f"{main.target.removesuffix('.')}, {language.conjunctions['and']}"
    verdicts = zip(language.pronouns, language.copula, predicate.target, strict=True)
    return cues, Choice(
        f"{main.source.removesuffix('.')}, and it was {predicate.source} .",
        tuple(f"{opening} {pronoun} {was} {tasty} ." for pronoun, was, tasty in verdicts),
    )


def vp(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`Yes , Anna does .` -> Да , Анна поёт . / Ja , Anna singt ."""
    language = surface.language
    own, other = surface.several(language.persons, 2)
    cues = {
        distance: sentences.habit(
            surface, own if cue.kind == "own" else other, language.habits[cue.value]
        )
        for distance, cue in sorted(latent.cues.items())
    }
    yes = capitalised(language.conjunctions["yes"])
    candidates = tuple(f"{yes} {own.nominative} {verb.target} ." for verb in language.habits)
    return cues, Choice(f"Yes , {own.source} does .", candidates)


def names(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`Watson slept .` -> Ватсон спал . or Уотсон спал ., as the name was rendered before."""
    own, other = surface.next_name(), surface.next_name()
    current, *verbs = surface.several(surface.language.doings, 1 + len(latent.cues))
    cues = {
        distance: sentences.mention(surface, own if cue.kind == "own" else other, verb).take(
            cue.value
        )
        for (distance, cue), verb in zip(sorted(latent.cues.items()), verbs, strict=True)
    }
    return cues, sentences.mention(surface, own, current)


def tv(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`You know the way .` -> Ты знаешь ... / Вы знаете ..., as this speaker did before."""
    current, *rest = surface.several(surface.language.addresses, 1 + len(latent.cues))
    cues = {
        distance: sentences.greeted(surface, address, cue.value)
        for (distance, cue), address in zip(sorted(latent.cues.items()), rest, strict=True)
    }
    return cues, sentences.addressed(surface, current, SILENCE)


def spk(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`I lost the key .` -> Я потерял ключ . / Я потеряла ключ ., by who the speaker is."""
    roles = surface.several(surface.language.roles, len(latent.cues))
    cues = {
        distance: sentences.role(surface, role, cue.value)
        for (distance, cue), role in zip(sorted(latent.cues.items()), roles, strict=True)
    }
    return cues, sentences.confession(surface, surface.pick(surface.language.deeds))


def case(latent: Latent, surface: Surface) -> tuple[Cues, Choice]:
    """`Whom did Anna help ?` `Probably the doctor .` -> Наверное , врачу . / ... dem Arzt ."""
    current, *others = surface.several(surface.language.animates, len(latent.cues))
    cues = {}
    for distance, cue in sorted(latent.cues.items()):
        if cue.kind == "question":
            cues[distance] = sentences.question(surface, cue.value)
        else:
            cues[distance] = sentences.answer(surface, others.pop()).take(cue.value)
    return cues, sentences.answer(surface, current)


def _topic(surface: Surface) -> tuple[str, Predicate]:
    """A class of antecedents, and something that can be said of this class alone."""
    kind = surface.pick(ANTECEDENT_CLASSES)
    return kind, surface.pick(surface.language.predicates[kind])


def _antecedents(latent: Latent, surface: Surface, kind: str) -> Cues:
    """A sentence per noun: antecedents are of the class `kind`, distractors of another one."""
    other = surface.pick([c for c in ANTECEDENT_CLASSES if c != kind])
    nouns = surface.language.nouns
    places = surface.several(range(len(nouns[kind][0])), len(latent.cues))
    cues = {}
    for (distance, cue), place in zip(sorted(latent.cues.items()), places, strict=True):
        chosen = kind if cue.kind == "antecedent" else other
        cues[distance] = sentences.event(surface, chosen, nouns[chosen][cue.value][place])
    return cues


def _verdict(
    surface: Surface, source: str, subjects: tuple[str, ...], predicate: Predicate
) -> Choice:
    """`It was tasty .`, in each gender."""
    tail = surface.pick((SILENCE, *surface.language.tails))
    agreeing = zip(subjects, surface.language.copula, predicate.target, strict=True)
    return surface.choice(
        "state",
        {"subject": source, "verb": "was", "predicate": predicate.source, "tail": tail.source},
        [
            {"subject": subject, "verb": was, "predicate": tasty, "tail": tail.target}
            for subject, was, tasty in agreeing
        ],
    )


PHENOMENA: Mapping[str, Callable[[Latent, Surface], tuple[Cues, Choice]]] = {
    "pron": anaphora,
    "vp": vp,
    "names": names,
    "recent": anaphora,
    "ordinal": ordinal,
    "tv": tv,
    "spk": spk,
    "case": case,
    "d0": d0,
    "far": anaphora,
}
