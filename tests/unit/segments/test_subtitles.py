"""Subtitles: the same cues and times, whatever the translation; nothing changes without one."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.errors import UserError
from concatmt.segments.segment import Translated
from concatmt.segments.subtitles import MARKUPS
from tests.unit.segments.films import bodies, identity, read, sentences, srt, translate


def test_a_sentence_over_two_cues_is_translated_as_one_and_given_back_to_both() -> None:
    file = read(srt("Anna ordered the cabbage,", "because it was cheap. It was tasty."))
    assert sentences(file) == ["Anna ordered the cabbage, because it was cheap.", "It was tasty."]
    out = translate(file, "Anna a commandé le chou, car il était bon marché.", "Il était bon.")
    assert bodies(out) == [
        "Anna a commandé le chou,",
        "car il était bon marché. Il était bon.",
    ]


def test_a_pause_of_a_second_ends_a_sentence() -> None:
    assert len(read(srt("I was going", "to the shop.", gap=1000)).segments) == 2
    assert len(read(srt("I was going", "to the shop.", gap=999)).segments) == 1


def test_two_speakers_are_two_sentences_and_keep_their_dashes() -> None:
    file = read(srt("- Really?\n-Yes."))
    assert sentences(file) == ["Really?", "Yes."]
    assert bodies(translate(file, "Vraiment ?", "Oui.")) == ["- Vraiment ?\n-Oui."]


def test_names_notes_and_brackets_stay_around_their_words() -> None:
    file = read(srt("JOHN: [laughs] Yes.", "♪ My love ♪", "{\\an8}<i>Up there.</i>", gap=5000))
    assert sentences(file) == ["laughs", "Yes.", "My love", "Up there."]
    out = translate(file, "rit", "Oui.", "Mon amour", "Là-haut.")
    assert bodies(out) == [
        "JOHN: [rit] Oui.",
        "♪ Mon amour ♪",
        "{\\an8}<i>Là-haut.</i>",
    ]


def test_a_sound_is_written_like_the_sound_it_translates() -> None:
    file = read(srt("[door creaks]", "[TV on]", gap=5000))
    out = translate(file, "La porte grince.", "TV allumée")
    assert bodies(out) == ["[la porte grince]", "[TV allumée]"]


def test_lyrics_and_sounds_can_be_kept_or_dropped() -> None:
    text = srt("[laughs] Yes.", "♪ My love ♪", gap=5000)
    kept = read(text, lyrics="keep", sounds="keep")
    assert sentences(kept) == ["Yes."]
    assert bodies(translate(kept, "Oui.")) == ["[laughs] Oui.", "♪ My love ♪"]
    dropped = read(text, lyrics="drop", sounds="drop")
    assert bodies(translate(dropped, "Oui.")) == ["Oui.", ""]


def test_capitals_are_lowered_for_the_model_and_raised_again() -> None:
    file = read(srt("STOP RIGHT THERE!"))
    assert sentences(file) == ["Stop right there!"]
    assert bodies(translate(file, "Arrête-toi là !")) == ["ARRÊTE-TOI LÀ !"]


def test_tags_inside_go_with_their_words() -> None:
    file = read(srt("This is <i>very</i> good."))
    aligned = [Translated("Ceci est très bon.", ((0, 0), (1, 1), (2, 2), (3, 3)))]
    assert bodies(file.with_translations(aligned)[0].decode()) == ["Ceci est <i>très</i> bon."]


def test_tags_follow_the_alignment_where_the_order_of_words_changes() -> None:
    file = read(srt("The <b>red</b> house burns."))
    aligned = [Translated("La maison rouge brûle.", ((0, 0), (1, 2), (2, 1), (3, 3)))]
    assert bodies(file.with_translations(aligned)[0].decode()) == ["La maison <b>rouge</b> brûle."]


def test_long_text_is_wrapped_in_two_lines_at_a_good_place() -> None:
    file = read(srt("x y z."))
    out = translate(file, "Je ne sais pas si tu as vu la lettre, mais elle est sur la table.")
    assert bodies(out) == ["Je ne sais pas si tu as vu la lettre,\nmais elle est sur la table."]


def test_a_short_translation_leaves_a_cue_empty_and_says_so() -> None:
    file = read(srt("I do not", "know."))
    data, summary = file.with_translations([Translated("Non.")])
    assert bodies(data.decode()) == ["Non.", ""]
    assert summary.counts["cues left empty by a short sentence"] == 1


def test_vtt_keeps_header_notes_settings_voices_and_entities() -> None:
    text = (
        "WEBVTT - title\nKind: captions\n\nNOTE\nnot --- text\n\nSTYLE\n::cue { color: red }\n\n"
        "intro\n00:01.000 --> 00:02.000 line:0 align:start\n<v Anna>Fish &amp; chips.\n\n"
        "01:00:03.000 --> 01:00:04.000\n<c.loud>Hey!</c>\n"
    )
    file = read(text, ".vtt")
    assert sentences(file) == ["Fish & chips.", "Hey!"]
    assert file.segments[1].gap  # an hour lies between them
    out = translate(file, "Poisson & frites < rien.", "Hé !")
    expected = text.replace("Fish &amp; chips.", "Poisson &amp; frites &lt; rien.")
    assert out == expected.replace("Hey!", "Hé !")


def test_ass_changes_the_text_of_dialogues_alone() -> None:
    head = (
        "[Script Info]\n; comment\nTitle: x, y\n\n[Events]\n"
        "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    )
    text = head + (
        "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,a note\n"
        "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\i1}Well, yes,\\Nof course.{\\i0}\n"
        "Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\k20}La{\\k30}la\n"
        "Dialogue: 0,0:00:05.00,0:00:06.00,Sign,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}\n"
    )
    file = read(text, ".ass")
    assert sentences(file) == ["Well, yes, of course."]
    assert translate(file, "Mais oui.") == text.replace("Well, yes,\\Nof course.", "Mais oui.")


def test_a_sentence_has_at_most_four_cues_seven_seconds_and_two_hundred_characters() -> None:
    assert len(read(srt("a b", "c d", "e f.")).segments) == 1
    assert len(read(srt("a b", "c d", "e f", "g h.")).segments) == 2  # 8.3 seconds
    assert len(read(srt("a b", "c d", "e f", "g h.", length=1000)).segments) == 1
    assert len(read(srt("a", "b", "c", "d", "e.", length=500)).segments) == 2
    assert len(read(srt("a b", "c d", "e f.", "g."), join_seconds=4.1).segments) == 3
    assert len(read(srt("word " * 30, "word " * 12 + ".")).segments) == 2
    assert len(read(srt("a b", "c d", "e f."), join_cues=1).segments) == 3
    assert len(read(srt("a b", "c d."), join_characters=5).segments) == 2
    assert len(read(srt("a b", "c d.", gap=500), join_pause=0.4).segments) == 2


def test_a_long_silence_or_a_jump_back_in_time_ends_the_context() -> None:
    assert [s.gap for s in read(srt("One.", "Two.", gap=25_000)).segments] == [False, False]
    assert [s.gap for s in read(srt("One.", "Two.", gap=25_001)).segments] == [False, True]
    shorter = read(srt("One.", "Two.", gap=9_000), scene_pause=5.0)
    assert [s.gap for s in shorter.segments] == [False, True]
    film = srt("One.", "Two.", gap=61_000)
    twice = read(film + "\n" + film)
    assert [s.gap for s in twice.segments] == [False, True, True, True]
    out, summary = twice.with_translations([Translated(s.text) for s in twice.segments])
    assert out.decode() == film + "\n" + film
    assert summary.counts["cues that begin before the one above them"] == 1


def test_signs_on_the_screen_are_no_context_of_what_is_said() -> None:
    head = "[Events]\nFormat: Start, End, Style, Text\n"
    lines = [("Default", "One."), ("Signs", "Hotel"), ("Default", "Two."), ("Italics", "Three.")]
    text = head + "".join(
        f"Dialogue: 0:00:0{n}.00,0:00:0{n}.90,{style},{words}\n"
        for n, (style, words) in enumerate(lines)
    )
    assert [s.gap for s in read(text, ".ass").segments] == [False, True, True, False]


def test_cues_in_disorder_are_kept_as_they_are_and_told() -> None:
    one, two = srt("First.").rstrip("\n"), srt("Second.").rstrip("\n")
    file = read(f"{one}\n\n{two}\n")
    data, summary = file.with_translations([Translated("Un."), Translated("Deux.")])
    assert bodies(data.decode()) == ["Un.", "Deux."]
    assert summary.counts["cues that overlap with the one above them"] == 1


def test_a_voice_of_webvtt_is_a_speaker_and_its_name_is_not_translated() -> None:
    text = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Where is<v Bob>Here!\n\n"
        "00:02.100 --> 00:03.000\n<v Anna>my hat?\n"
    )
    file = read(text, ".vtt")
    assert sentences(file) == ["Where is", "Here!", "my hat?"]
    out = translate(file, "Où est", "Ici !", "mon chapeau ?")
    assert "<v Anna>Où est<v Bob>Ici !" in out


def test_names_can_be_translated_apart() -> None:
    cue = srt("NURSE: Come in.", "[DOCTOR] Thank you.", gap=5000)
    assert sentences(read(cue)) == ["Come in.", "Thank you."]
    file = read(cue, names="translate")
    assert sentences(file) == ["Nurse", "Come in.", "Doctor", "Thank you."]
    out = translate(file, "Infirmière", "Entrez.", "Médecin", "Merci.")
    assert bodies(out) == ["INFIRMIÈRE: Entrez.", "[MÉDECIN] Merci."]


def test_lyrics_are_marked_at_either_end_and_line_by_line() -> None:
    file = read(srt("# My love", "My heart ♪", "♪ One ♪\n♪ Two ♪", "#1 fan", gap=5000))
    assert sentences(file) == ["My love", "My heart", "One", "Two", "#1 fan"]
    kept = read(srt("# My love", "My heart ♪", "♪ One ♪\n♪ Two ♪", "#1 fan"), lyrics="keep")
    assert sentences(kept) == ["#1 fan"]
    out = translate(file, "Mon amour", "Mon cœur", "Un", "Deux", "Fan n° 1")
    assert bodies(out) == ["# Mon amour", "Mon cœur ♪", "♪ Un ♪\n♪ Deux ♪", "Fan n° 1"]


def test_a_sentence_that_is_broken_off_ends_so_in_the_translation_too() -> None:
    file = read(srt("I thought that--", "Well...", "Done.", "Really?", gap=5000))
    out = translate(file, "Je pensais que", "Eh bien.", "Fini.", "Vraiment ?")
    assert bodies(out) == ["Je pensais que--", "Eh bien...", "Fini.", "Vraiment ?"]


def test_capitals_can_be_left_to_the_model() -> None:
    assert sentences(read(srt("STOP RIGHT THERE!"), capitals=False)) == ["STOP RIGHT THERE!"]


def test_a_cut_is_made_where_the_words_of_the_next_cue_begin() -> None:
    file = read(srt("He said yesterday", "that he comes"))
    translation = "Hier il disait qu'il vient"  # hier=yesterday, il=he, disait=said
    links = ((0, 1), (1, 2), (2, 0), (3, 3), (4, 4), (5, 5))
    out = file.with_translations([Translated(translation, links)])[0].decode()
    assert bodies(out) == ["Hier il disait", "qu'il vient"]


def test_a_shorter_translation_that_is_nearly_as_good_is_taken_for_a_cue_that_is_too_fast() -> None:
    best = Translated(
        "Une traduction bien trop longue pour être lue en deux secondes.",
        score=-1.0,
        alternatives=(Translated("Une brève.", score=-1.1), Translated("Non.", score=-1.5)),
    )
    data, summary = read(srt("x y.")).with_translations([best])
    assert bodies(data.decode()) == ["Une brève."]
    assert summary.counts["sentences for which a shorter translation was taken"] == 1
    slow = read(srt("x y."), reading_speed=100.0).with_translations([best])[0]
    assert bodies(slow.decode()) == [
        best.text.replace("pour être", "\npour être").replace(" \n", "\n")
    ]


def test_lines_can_be_kept_or_joined() -> None:
    cue = srt("one two\nthree four.")
    long = "Un deux trois quatre cinq six sept huit neuf dix onze douze."
    assert bodies(translate(read(cue, wrap="none"), long)) == [long]
    assert bodies(translate(read(cue, wrap="keep"), "Un deux trois quatre.")) == [
        "Un deux\ntrois quatre."
    ]
    assert bodies(translate(read(cue, width=30), long))[0].count("\n") == 1


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".srt", "1\n00:00:01,000 -> 00:00:02,000\nHi\n", "no line of times"),
        (".srt", "1\n00:00:0x,000 --> 00:00:02,000\nHi\n", "line 2"),
        (".srt", "Hello\n\n1\n00:00:01,000 --> 00:00:02,000\nHi\n", "line 1: text before"),
        (".vtt", "1\n00:01.000 --> 00:02.000\nHi\n", "first line of a WebVTT file"),
        (".vtt", "WEBVTT\n\n00:01,000 --> 00:02,000\nHi\n", "line 3"),
        (".ass", "Hello", r"no \[Events\]"),
        (".ass", "[Events]\nDialogue: 0,1,2,3\n", "before the Format"),
        (".ass", "[Events]\nFormat: Start, End, Text\nDialogue: a,0:00:01.00,x\n", "not a time"),
    ],
)
def test_what_is_no_subtitle_file_is_refused_in_one_line(
    suffix: str, text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read(text, suffix)
    assert "\n" not in str(caught.value)


def test_encodings_and_line_ends_are_written_as_they_were_read() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-8"):
        data = srt("Hello there.", "").replace("\n", "\r\n").encode(encoding)
        file = read(data)
        assert identity(file) == data
        out = file.with_translations([Translated("Là.")])[0]
        assert out.decode(encoding) == data.decode(encoding).replace("Hello there.", "Là.")


def test_text_that_is_not_utf_8_is_refused_with_a_hint() -> None:
    with pytest.raises(UserError, match="--encoding cp1252"):
        read(srt("caf\u00e9").encode("latin-1"))


fragments = st.sampled_from(
    [
        "Hello there.",
        "and",
        "- Yes?",
        "-No!",
        "<i>",
        "</i>",
        "{\\an8}",
        "♪",
        "JOHN: ",
        "MAN 2 (V.O.):",
        ">> Hi.",
        "(SIGHS)",
        "\u202b",
        "...and",
        "so--",
        "[door]",
        "STOP IT!",
        "...",
        "123",
        "é ü",
        ", but",
        "\n",
        "  ",
        "{\\i1}",
        "{\\i0}",
        "&amp;",
        "<v Bob>",
        "\\N",
        "Mr. Fox",
        "“Oh,",
        "”",
        "—",
    ]
)
texts = st.lists(fragments, max_size=8).map(lambda parts: " ".join(parts).replace("\n ", "\n"))


def in_format(suffix: str, cues: list[str], gaps: list[int], end: str) -> str:
    out, at = [], 0
    for number, text in enumerate(cues):
        at += gaps[number % len(gaps)]
        a, b = at, at + 1500
        at = b
        stamp = [f"00:{t // 60000:02}:{t // 1000 % 60:02}.{t % 1000:03}" for t in (a, b)]
        if suffix == ".srt":
            body = re.sub(r"\n\s*\n", "\n", text).strip("\n")
            out.append(f"{number + 1}\n{stamp[0]} --> {stamp[1]}\n{body}\n\n".replace(".", ",", 2))
        elif suffix == ".vtt":
            body = re.sub(r"\n\s*\n", "\n", text).strip("\n")
            out.append(f"{stamp[0]} --> {stamp[1]}\n{body}\n\n")
        else:
            body = text.replace("\n", "\\N")
            out.append(f"Dialogue: 0,{stamp[0][1:-1]},{stamp[1][1:-1]},D,{body}\n")
    head = {".srt": "", ".vtt": "WEBVTT\n\n"}.get(
        suffix, "[Events]\nFormat: Layer, Start, End, Style, Text\n"
    )
    return (head + "".join(out)).replace("\n", end)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([".srt", ".vtt", ".ass"]),
    st.lists(texts, min_size=1, max_size=6),
    st.lists(st.integers(0, 40_000), min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
)
def test_without_a_change_no_byte_changes_and_with_one_cues_and_tags_stay(
    suffix: str, cues: list[str], gaps: list[int], end: str
) -> None:
    text = in_format(suffix, cues, gaps, end)
    file = read(text, suffix)
    assert identity(file).decode() == text
    changed = [Translated(" ".join(f"x{w}" for w in s.split()) + " z") for s in sentences(file)]
    out = file.with_translations(changed)[0].decode()
    again = read(out, suffix)
    assert [(c.begins, c.ends, c.style) for c in again.cues] == [
        (c.begins, c.ends, c.style) for c in file.cues
    ]
    tag = MARKUPS[suffix].tag
    assert sorted(tag.findall(out)) == sorted(tag.findall(text))
