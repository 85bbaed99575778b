"""Who speaks, what is heard and what goes on in the next cue, as subtitles of all kinds have it."""

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.segments.segment import Translated
from tests.unit.segments.films import bodies, identity, read, sentences, srt, translate


def test_a_line_that_begins_with_a_name_is_another_speaker() -> None:
    file = read(srt("MAN 1: Who is it?\nWOMAN: It's me."))
    assert sentences(file) == ["Who is it?", "It's me."]
    assert bodies(translate(file, "Qui est-ce ?", "C'est moi.")) == [
        "MAN 1: Qui est-ce ?\nWOMAN: C'est moi."
    ]


def test_a_name_in_the_middle_of_a_line_is_another_speaker() -> None:
    file = read(srt("JOHN: Go! MARY: No!"))
    assert sentences(file) == ["Go!", "No!"]
    assert bodies(translate(file, "Va !", "Non !")) == ["JOHN: Va ! MARY: Non !"]
    apart = read(srt("JOHN: Go! MARY: No!"), names="translate")
    assert sentences(apart) == ["John", "Go!", "Mary", "No!"]
    assert bodies(translate(apart, "Jean", "Va !", "Marie", "Non !")) == ["JEAN: Va ! MARIE: Non !"]


def test_capitals_before_a_colon_are_no_name_in_text_that_is_all_in_capitals() -> None:
    assert sentences(read(srt("I HAVE ONE\nQUESTION: WHO ARE YOU?"))) == [
        "I have one question: who are you?"
    ]


def test_a_name_may_say_where_the_speaker_is_and_stand_in_a_line_of_its_own() -> None:
    text = srt("NARRATOR (V.O.):\nIt was a dark night.").replace("\n", "\r\n")
    file = read(text)
    assert sentences(file) == ["It was a dark night."]
    out = translate(file, "C'était une nuit sombre, et il pleuvait sur toute la ville.")
    assert out == text.replace(
        "It was a dark night.", "C'était une nuit sombre, et il pleuvait sur toute la ville."
    )


@pytest.mark.parametrize("mark", [">> ", ">>", "- ", "-", "– "])
def test_marks_of_speakers_begin_a_sentence_and_stay(mark: str) -> None:
    file = read(srt(f"{mark}Welcome back.\n{mark}Thank you."))
    assert sentences(file) == ["Welcome back.", "Thank you."]
    assert bodies(translate(file, "Bienvenue.", "Merci.")) == [f"{mark}Bienvenue.\n{mark}Merci."]


def test_speakers_of_webvtt_may_be_marked_by_entities() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n&gt;&gt; Hi, A&amp;B.\n&gt;&gt; Bye.\n"
    file = read(text, ".vtt")
    assert sentences(file) == ["Hi, A&B.", "Bye."]
    assert identity(file).decode() == text
    assert translate(file, "Salut, A&B.", "Salut.") == text.replace("Hi,", "Salut,").replace(
        "Bye", "Salut"
    )


def test_sounds_in_round_brackets_are_apart_if_they_are_in_capitals() -> None:
    file = read(srt("(SIGHS) I can't (really) do it."))
    assert sentences(file) == ["Sighs", "I can't (really) do it."]
    assert bodies(translate(file, "Soupire.", "Je ne peux pas.")) == ["(SOUPIRE) Je ne peux pas."]
    dropped = read(srt("(SIGHS) I can't."), sounds="drop")
    assert bodies(translate(dropped, "Non.")) == ["Non."]


@pytest.mark.parametrize(("end", "begin"), [("...", "..."), ("…", ""), ("--", ""), ("", "...")])
def test_dots_between_the_cues_of_a_sentence_are_not_the_models_and_are_put_back(
    end: str, begin: str
) -> None:
    cues = f"That's a lot{end}", f"{begin}of <i>your</i> money."
    file = read(srt(*cues))
    assert sentences(file) == ["That's a lot of your money."]
    assert identity(file).decode() == srt(*cues)
    # That' s a lot | of your money .  ->  C' est beaucoup | de ton argent .
    links = ((0, 0), (1, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6))
    out = file.with_translations([Translated("C'est beaucoup de ton argent.", links)])[0].decode()
    assert bodies(out) == [f"C'est beaucoup{end}", f"{begin}de <i>ton</i> argent."]


def test_a_pair_of_tags_that_begins_a_cue_goes_with_its_words() -> None:
    links = ((0, 2), (1, 1), (2, 3), (3, 4))
    for text, expected in (
        ("<b>Red</b> houses burn.", "Les maisons <b>rouges</b> brûlent."),
        ("<i><b>Red</b> houses burn.</i>", "<i>Les maisons <b>rouges</b> brûlent.</i>"),
        ("{\\an8}<b>Red</b> houses burn.", "{\\an8}Les maisons <b>rouges</b> brûlent."),
        ("<i>ANNA:</i> <b>Red</b> houses burn.", "<i>ANNA:</i> Les maisons <b>rouges</b> brûlent."),
    ):
        out = read(srt(text)).with_translations([Translated("Les maisons rouges brûlent.", links)])
        assert bodies(out[0].decode()) == [expected]


def test_right_to_left_text_keeps_its_marks_of_direction() -> None:
    cue = "\u202bHello there.\u202c"
    file = read(srt(cue))
    assert identity(file).decode() == srt(cue)
    assert sentences(file) == ["Hello there."]
    assert bodies(translate(file, "שלום לך.")) == ["\u202bשלום לך.\u202c"]


def test_every_voice_keeps_its_line() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Bob>Hi.\n<v Anna>Hello.</v>\n"
    out = translate(read(text, ".vtt"), "Salut.", "Bonjour.")
    assert out == text.replace("Hi.", "Salut.").replace("Hello.", "Bonjour.")


def test_how_a_word_is_read_is_not_a_word() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>漢<rt>kan</rt></ruby> is a word.\n"
    assert sentences(read(text, ".vtt")) == ["漢 is a word."]


def test_a_sentence_does_not_go_on_at_another_place_of_the_screen() -> None:
    assert sentences(read(srt("{\\an8}A sign", "he went home."))) == ["A sign", "he went home."]
    assert sentences(read(srt("{\\an8}He went", "{\\an8}home."))) == ["He went home."]
    head = "[Events]\nFormat: Start, End, Text\n"
    lines = "{\\pos(1,2)}Sign text", "{\\i1\\pos(3,4)}and another,", "{\\pos(3,4)\\b1}there."
    text = head + "".join(
        f"Dialogue: 0:00:0{n}.00,0:00:0{n}.90,{words}\n" for n, words in enumerate(lines)
    )
    assert sentences(read(text, ".ass")) == ["Sign text", "and another, there."]


def test_a_name_takes_its_room_in_the_line() -> None:
    file = read(srt("ANNA: <i>x y.</i>"))
    out = translate(file, "Nous savons qu'il est encore dans la rue.")
    assert bodies(out) == ["ANNA: <i>Nous savons qu'il\nest encore dans la rue.</i>"]
    short = translate(file, "Nous savons qu'il est encore là.")
    assert bodies(short) == ["ANNA: <i>Nous savons qu'il est encore là.</i>"]


def test_a_sign_without_a_full_stop_gets_none() -> None:
    file = read(srt("HARBOUR CLOSED", "♪ Row your boat ♪", "Tools etc", "Done.", gap=5000))
    out = translate(file, "Port fermé.", "Rame ton bateau.", "Outils, etc.", "Fini.")
    assert bodies(out) == ["PORT FERMÉ", "♪ Rame ton bateau ♪", "Outils, etc.", "Fini."]
    assert bodies(translate(read(srt("\u6e2f\u53e3\u5173\u95ed\u4e86")), "It is closed.")) == [
        "It is closed."
    ]
