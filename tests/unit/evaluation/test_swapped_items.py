"""Items of one's own text: a pronoun is swapped where another sentence may decide it."""

import pytest

from concatmt.corpus.parts import Part
from concatmt.evaluation.swapped_items import swapped_items, swaps_for

# Language, English, reference, what it becomes; written by hand.
SWAPPED = [
    ("fr", "It has no door.", "Il n'a pas de porte.", ["Elle n'a pas de porte."]),
    ("fr", "I think they know.", "Je crois qu'elles savent.", ["Je crois qu'ils savent."]),
    ("fr", "Take your coat.", "Prends ton manteau.", ["Prends votre manteau."]),
    ("fr", "This is for you.", "C'est pour vous.", ["C'est pour toi."]),
    ("de", "Did it break?", "Ist er da?", ["Ist sie da?", "Ist es da?"]),
    ("de", "It broke.", "Sie ist zerbrochen.", ["Er ist zerbrochen.", "Es ist zerbrochen."]),
    ("de", "I'll give it to you.", "Ich gebe das dir.", ["Ich gebe das Ihnen."]),
    ("de", "Your bag!", "Ihre Tasche!", ["Deine Tasche!"]),
    ("de", "Your bag!", "Deine Tasche!", ["Ihre Tasche!"]),
    ("ru", "I saw it.", "Я видел его.", ["Я видел её."]),
    ("ru", "I know your name .", "я знаю твоё имя .", ["я знаю ваше имя ."]),
]  # fmt: skip

# Why nothing may be swapped.
LEFT_ALONE = [
    ("fr", "He has no door.", "Il n'a pas de porte.", "the source says who"),
    ("fr", "It is beautiful.", "Il est beau.", "the adjective would have to agree"),
    ("fr", "It rains, he says.", "Il pleut, dit-il.", "the source says who"),
    ("fr", "It is necessary to go.", "Il faut partir.", "no noun is meant"),
    ("fr", "You know your town.", "Tu connais ta ville.", "the verb would have to change"),
    ("fr", "They like it.", "Ils aiment ce qu'elle fait.", "two pronouns"),
    ("fr", "I offer you a bet.", "J'ai le droit de vous proposer un pari.", "object of a verb"),
    ("de", "It is said to be old.", "Sie gelten als alt.", "the verb would have to agree"),
    ("de", "I know her.", "Ich kenne sie.", "the source says who"),
    ("de", "You have your bag.", "Sie haben Ihre Tasche.", "the verb would have to change"),
    ("de", "I see it.", "Ich sehe sie.", "nominative or accusative: not known"),
    ("ru", "It fell.", "Она упала.", "the verb would have to agree"),
    ("ru", "You know your name.", "Ты знаешь твоё имя.", "the verb would have to change"),
    ("pt", "It has no door.", "Ele não tem porta.", "no list for the language"),
]


@pytest.mark.parametrize(("language", "source", "target", "wrong"), SWAPPED)
def test_one_word_is_swapped_and_keeps_its_capital(
    language: str, source: str, target: str, wrong: list[str]
) -> None:
    part = Part("d", source=["First.", source], gold=["Zuerst.", target])
    [item] = swapped_items([part], language, 3, "swaps")
    assert item.targets == [["Zuerst.", one] for one in (target, *wrong)]
    assert item.source == ["First.", source]
    assert item.correct == 0


@pytest.mark.parametrize(("language", "source", "target", "reason"), LEFT_ALONE)
def test_what_the_sentence_itself_decides_is_left_alone(
    language: str, source: str, target: str, reason: str
) -> None:
    part = Part("d", source=["First.", source], gold=["Zuerst.", target])
    assert not swapped_items([part], language, 3, "swaps"), reason


def test_context_is_cut_and_first_sentences_have_none() -> None:
    sentence = ("It has no door.", "Il n'a pas de porte.")
    part = Part("d", source=[sentence[0]] * 4, gold=[sentence[1]] * 4)
    items = swapped_items([part], "fr", 2, "swaps")
    assert [(one.id, len(one.source), one.document) for one in items] == [
        ("d:1", 2, "d"),
        ("d:2", 3, "d"),
        ("d:3", 3, "d"),
    ]


@pytest.mark.parametrize("language", ["fr", "de", "ru"])
def test_no_list_swaps_a_word_with_itself_or_with_one_that_must_not_be_there(language: str) -> None:
    assert {one.phenomenon for one in swaps_for(language)} == {"gender", "formality"}
    for swap in swaps_for(language):
        for word, others in swap.words.items():
            assert word not in others
            assert word not in swap.others
            assert not swap.source & swap.not_source
