"""XLIFF: units and segments in order, what is approved stays, every code keeps its place."""

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.segments.segment import SegmentedFile, Translated
from concatmt.segments.xliff import Xliff
from concatmt.text.splitting import sentence_spans


def split(text: str) -> list[tuple[int, int]]:
    return sentence_spans(text, "en")


def sentences(file: SegmentedFile) -> list[str]:
    return [segment.text for segment in file.segments]


def identity(file: SegmentedFile) -> bytes:
    return file.with_translations([Translated(s) for s in sentences(file)])[0]


def marked(file: SegmentedFile) -> bytes:
    """Every word translated to itself with an x before it."""
    changed = [Translated(" ".join(f"x{w}" for w in s.split())) for s in sentences(file)]
    return file.with_translations(changed)[0]


XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2"><file><body>
 <trans-unit id="1" approved="yes">
   <source>The cat.</source>
   <target>La chatte.</target>
 </trans-unit>
 <trans-unit id="2">
   <source>It <g id="1">sleeps</g> now.</source>
 </trans-unit>
 <trans-unit id="3"><source>A</source><target/></trans-unit>
 <trans-unit id="4"><source>B</source><target state="new"></target></trans-unit>
 <trans-unit id="5" translate="no"><source>C</source></trans-unit>
</body></file></xliff>
"""


def test_approved_segments_are_context_and_stay() -> None:
    file = Xliff(XLIFF_1.encode(), "a.xlf", split)
    assert [(s.text, s.given) for s in file.segments] == [
        ("The cat.", "La chatte."),
        ("It sleeps now.", None),
        ("A", None),
        ("B", None),
        ("C", "C"),
    ]
    out = marked(file).decode()
    expected = XLIFF_1.replace(
        "now.</source>\n",
        'now.</source>\n   <target>xIt <g id="1">xsleeps</g> xnow.</target>\n',
    )
    expected = expected.replace("<target/>", "<target>xA</target>")
    expected = expected.replace('"new"></target>', '"new">xB</target>')
    assert out == expected


def test_xliff_2_with_a_prefix() -> None:
    text = (
        '<x:xliff version="2.0" xmlns:x="urn:x"><x:unit id="1"><x:segment state="final">'
        "<x:source>Hi.</x:source><x:target>Salut.</x:target></x:segment><x:segment>"
        "<x:source>Bye.</x:source></x:segment></x:unit></x:xliff>"
    )
    file = Xliff(text.encode(), "a.xlf", split)
    assert [(s.text, s.given) for s in file.segments] == [("Hi.", "Salut."), ("Bye.", None)]
    assert "<x:source>Bye.</x:source><x:target>xBye.</x:target>" in marked(file).decode()


def test_codes_in_a_unit_are_never_text_and_go_with_their_words() -> None:
    text = (
        '<xliff version="1.2"><file><body><trans-unit id="1"><source>The <bpt id="1">&lt;b&gt;'
        '</bpt>red<ept id="1">&lt;/b&gt;</ept> <g id="2">house</g> of <mrk mtype="protected">'
        'Acme</mrk><ph id="3">{0}</ph> <![CDATA[burns & falls]]>.</source><target>?</target>'
        "</trans-unit></body></file></xliff>"
    )
    file = Xliff(text.encode(), "a.xlf", split)
    assert sentences(file) == ["The red house of burns & falls."]
    links = ((0, 0), (1, 2), (2, 1), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7))
    translated = Translated("La maison rouge de brûle & tombe.", links)
    out = file.with_translations([translated])[0].decode()
    assert (
        '<target>La <g id="2">maison</g> <bpt id="1">&lt;b&gt;</bpt>rouge<ept id="1">&lt;/b&gt;'
        "</ept> de" in out
    )
    for code in ('<mrk mtype="protected">Acme</mrk>', '<ph id="3">{0}</ph>'):
        assert out.count(code) == 2
    assert "brûle &amp; tombe." in out
    assert out.count("<![CDATA[") == 1


SEGMENTED = """<xliff version="1.2"><file><body>
 <trans-unit id="1">
  <source>Dr. No <g id="5">left. She</g> saw him, 12. 13.</source>
  <seg-source><mrk mtype="seg" mid="0">Dr. No <g id="5">left.</g></mrk> <mrk mtype="seg" mid="1"><g id="5">She</g> saw him,</mrk> <mrk mtype="seg" mid="2">12. 13.</mrk></seg-source>{}
  <alt-trans><source>Alt.</source><target>Autre.</target></alt-trans>
 </trans-unit>
 <trans-unit id="2"><source>Last.</source></trans-unit>
</body></file></xliff>
"""  # noqa: E501


def test_a_new_target_gets_the_marks_of_the_segmented_source() -> None:
    file = Xliff(SEGMENTED.format("").encode(), "a.xlf", split)
    assert sentences(file) == ["Dr. No left.", "She saw him,", "Last."]
    assert marked(file).decode() == SEGMENTED.format(
        '\n  <target><mrk mtype="seg" mid="0">xDr. xNo <g id="5">xleft.</g></mrk> <mrk mtype="seg"'
        ' mid="1"><g id="5">xShe</g> xsaw xhim,</mrk> <mrk mtype="seg" mid="2">12. 13.</mrk>'
        "</target>"
    ).replace("Last.</source>", "Last.</source><target>xLast.</target>")


def test_marked_segments_of_a_target_are_filled_one_by_one() -> None:
    target = (
        '<target><mrk mtype="seg" mid="1">Elle</mrk>, <mrk mtype="seg" mid="0"/>'
        '<mrk mtype="seg" mid="2">12</mrk></target>'
    )
    file = Xliff(SEGMENTED.format(target).encode(), "a.xlf", split)
    assert sentences(file) == ["Dr. No left.", "She saw him,", "Last."]
    out = marked(file).decode()
    assert (
        '<target><mrk mtype="seg" mid="1"><g id="5">xShe</g> xsaw xhim,</mrk>, <mrk mtype="seg"'
        ' mid="0">xDr. xNo <g id="5">xleft.</g></mrk><mrk mtype="seg" mid="2">12</mrk></target>'
    ) in out
    assert file.pairs[:3] == [("Dr. No left.", ""), ("She saw him,", "Elle"), ("12. 13.", "12")]


def test_marked_segments_of_an_approved_target_are_given_one_by_one() -> None:
    target = (
        '<target><mrk mtype="seg" mid="0">Il partit.</mrk> <mrk mtype="seg" mid="1">Elle le vit,'
        '</mrk> <mrk mtype="seg" mid="2">12. 13.</mrk></target>'
    )
    text = SEGMENTED.format(target).replace('id="1">\n', 'id="1" approved="yes">\n', 1)
    file = Xliff(text.encode(), "a.xlf", split)
    assert [(s.text, s.given) for s in file.segments] == [
        ("Dr. No left.", "Il partit."),
        ("She saw him,", "Elle le vit,"),
        ("12. 13.", "12. 13."),
        ("Last.", None),
    ]
    assert marked(file).decode() == text.replace(
        "Last.</source>", "Last.</source><target>xLast.</target>"
    )


def test_a_target_without_marks_is_written_again_with_them() -> None:
    file = Xliff(SEGMENTED.format("<target>Rien</target>").encode(), "a.xlf", split)
    out = marked(file).decode()
    assert "Rien" not in out
    assert out.count('<mrk mtype="seg" mid="1"><g id="5">') == 2


def test_the_target_of_a_match_is_not_the_units() -> None:
    text = (
        '<xliff version="1.2"><trans-unit id="1"><source>Hi.</source><alt-trans><target'
        ' state="final">Salut.</target></alt-trans></trans-unit></xliff>'
    )
    file = Xliff(text.encode(), "a.xlf", split)
    assert [(s.text, s.given) for s in file.segments] == [("Hi.", None)]
    assert "<source>Hi.</source><target>xHi.</target><alt-trans>" in marked(file).decode()


def test_a_second_translation_by_the_same_words_changes_nothing() -> None:
    once = identity(Xliff(XLIFF_1.encode(), "a.xlf", split))
    assert identity(Xliff(once, "a.xlf", split)) == once
