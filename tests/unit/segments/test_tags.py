"""Tags at the words they belong to; the order of tags is law, whatever the alignment says."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from concatmt.segments.tags import Exchange, Tag, exchanged, moved, written


def put(source: str, target: str, alignment: tuple[tuple[int, int], ...] = ()) -> str:
    """Translate `source`, written with [ ] as tags, to `target`."""
    plain, tags = "", []
    for character in source:
        if character in "[]":
            tags.append(Tag(len(plain), character, character == "]"))
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


def test_crossing_alignments_keep_the_order_of_tags() -> None:
    out = put("[a] [b]", "x y", ((0, 1), (1, 0)))
    assert [c for c in out if c in "[]"] == ["[", "]", "[", "]"]


def test_an_exchange_leaves_the_rest_and_its_tags() -> None:
    text, tags = exchanged(
        "Hi you. Yes.", [Tag(3, "<b>"), Tag(7, "</b>", True)], [Exchange(8, 12, "Oui.")]
    )
    assert written(text, tags) == "Hi <b>you.</b> Oui."


@given(
    st.text(alphabet="ab ", max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=5),
    st.text(alphabet="xy ", max_size=20),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=6),
)
def test_no_tag_is_lost_or_overtaken(
    source: str, places: list[tuple[int, bool]], target: str, pairs: list[tuple[int, int]]
) -> None:
    tags = [
        Tag(min(offset, len(source)), f"<{number}>", closes)
        for number, (offset, closes) in enumerate(sorted(places))
    ]
    words = len(target.split())
    alignment = tuple((s, t) for s, t in pairs if t < words)
    out = moved(tags, source, target, alignment)
    assert [tag.markup for tag in out] == [tag.markup for tag in tags]
    assert all(a.offset <= b.offset <= len(target) for a, b in pairwise(out))
