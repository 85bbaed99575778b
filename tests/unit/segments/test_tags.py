"""Tags at the words they belong to; the order of tags is law, whatever the alignment says."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from concatmt.segments.tags import Exchange, Tag, exchanged, moved, written


def put(source: str, target: str, alignment: tuple[tuple[int, int], ...] = ()) -> str:
    """Translate `source`, written with [ ] and { } as pairs and | alone, to `target`."""
    plain, tags = "", []
    for character in source:
        if character in "[]{}|":
            pair = {"[": "1", "]": "1", "{": "2", "}": "2"}.get(character, "")
            tags.append(Tag(len(plain), character, character in "]}", pair))
        else:
            plain += character
    return written(target, moved(tags, plain, target, alignment))


def test_by_share_of_words() -> None:
    assert put("one [two] three", "un deux trois") == "un [deux] trois"
    assert put("[one] two", "un deux trois quatre") == "[un deux] trois quatre"


def test_by_alignment() -> None:
    assert (
        put("the [red] house", "la maison rouge", ((0, 0), (1, 2), (2, 1))) == "la maison [rouge]"
    )


def test_pairs_change_their_order_with_their_words() -> None:
    assert put("a [red] {house}", "une maison rouge", ((0, 0), (1, 2), (2, 1))) == (
        "une {maison} [rouge]"
    )


def test_a_pair_inside_of_a_pair_stays_inside() -> None:
    links = ((0, 0), (1, 2), (2, 1))
    assert put("a [red {house}]", "une maison rouge", links) == "une [{maison} rouge]"


def test_the_half_of_a_pair_goes_to_the_edge_of_its_sentence() -> None:
    links = ((0, 1), (1, 0))
    assert put("one] two", "deux un", links) == "deux un]"
    assert put("one [two", "deux un", links) == "[deux un"


def test_a_tag_alone_stands_before_the_word_it_stood_before() -> None:
    assert put("red |house", "maison rouge", ((0, 1), (1, 0))) == "|maison rouge"


def test_a_pair_can_begin_behind_an_elided_article_and_end_before_a_full_stop() -> None:
    links = ((0, 0), (1, 1), (2, 2), (3, 3))
    assert put("Drink the [water].", "Bois l'eau.", links) == "Bois l'[eau]."


def test_part_of_a_word_that_stays_the_same_stays_marked() -> None:
    assert put("Drink H[2]O now", "Buvez du H2O", ((0, 0), (1, 2))) == "Buvez du H[2]O"


def test_the_mark_of_a_pair_is_read_from_its_markup() -> None:
    for opening, closing in (
        ("<b>", "</b>"),
        ('<g id="1">', "</g>"),
        ('<bpt id="4" rid="2">x</bpt>', '<ept id="5" rid="2">y</ept>'),
        ("{\\i1}", "{\\i0}"),
        ("<c.loud>", "</c>"),
        ("**", "**"),
        ("[", "](http://a)"),
    ):
        assert Tag(0, opening).key == Tag(9, closing, True).key != "", opening
    for alone in ("<br>", '<x id="1"/>', "<ph>a</ph>", "`a b`", "<code>a</code>"):
        assert Tag(0, alone).key == "", alone


def test_an_exchange_leaves_the_rest_and_its_tags() -> None:
    text, tags = exchanged(
        "Hi you. Yes.", [Tag(3, "<b>"), Tag(7, "</b>", True)], [Exchange(8, 12, "Oui.")]
    )
    assert written(text, tags) == "Hi <b>you.</b> Oui."


@given(
    st.text(alphabet="ab ", max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from("[]{}|")), max_size=6),
    st.text(alphabet="xy ", max_size=20),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=6),
)
def test_no_tag_is_lost_and_what_was_balanced_stays_balanced(
    source: str, places: list[tuple[int, str]], target: str, links: list[tuple[int, int]]
) -> None:
    tags = [
        Tag(min(offset, len(source)), mark, mark in "]}", {"]": "[", "}": "{", "|": ""}.get(mark))
        if mark in "]}|"
        else Tag(min(offset, len(source)), mark, False, mark)
        for offset, mark in sorted(places, key=lambda place: place[0])
    ]
    out = moved(tags, source, target, tuple(links))
    assert sorted(tag.markup for tag in out) == sorted(tag.markup for tag in tags)
    assert all(a.offset <= b.offset <= len(target) for a, b in pairwise(out))
    if balanced([tag.markup for tag in tags]):
        assert balanced([tag.markup for tag in out])


def balanced(marks: list[str]) -> bool:
    stack: list[str] = []
    for mark in marks:
        if mark in "[{":
            stack.append(mark)
        elif mark in "]}" and (not stack or stack.pop() + mark not in ("[]", "{}")):
            return False
    return not stack
