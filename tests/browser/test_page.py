"""The page, used as a visitor would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXT = "Anna bought a lamp. It is old.\n\nShe likes it. The sun shines."
SRT = "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n"


def translate(page: Page, text: str = TEXT) -> list[str]:
    """Paste a text and translate it by the keyboard; the translations."""
    page.fill("#text", text)
    page.press("#text", "Control+Enter")
    page.wait_for_selector("body[data-state=done]")
    return translations(page)


def translations(page: Page) -> list[str]:
    return page.locator(".translation").all_inner_texts()


def violations(page: Page) -> list[Any]:
    """What axe finds wrong for people who cannot see, or not well."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
    return [
        (one["id"], [node["html"] for node in one["nodes"]]) for one in found.response["violations"]
    ]


def test_a_text_is_translated_sentence_by_sentence(page: Page) -> None:
    found = translate(page)
    assert page.locator(".source").all_inner_texts() == [
        "Anna bought a lamp.",
        "It is old.",
        "She likes it.",
        "The sun shines.",
    ]
    assert all(found)
    assert page.locator(".row.paragraph").count() == 1


def test_sentences_show_before_the_last_is_done(page: Page) -> None:
    page.fill("#text", "\n".join(f"The lamp number {number} is old." for number in range(40)))
    page.click("#translate")
    page.wait_for_selector("#sentences:has(.translation:enabled):has(.translation:disabled)")
    page.wait_for_selector("body[data-state=done]")
    assert page.locator(".translation:disabled").count() == 0
    assert page.locator(".translation:enabled").count() == 40


def test_pointing_at_a_sentence_shows_its_context(page: Page) -> None:
    translate(page)
    page.hover(".row:nth-child(4) .source")
    marked = page.locator(".row.context").evaluate_all("rows => rows.map(r => r.dataset.index)")
    assert marked == ["1", "2"]
    page.focus(".row:nth-child(2) .translation")
    marked = page.locator(".row.context").evaluate_all("rows => rows.map(r => r.dataset.index)")
    assert marked == ["0"]


def test_without_context_stands_beside_with_the_differing_words_marked(page: Page) -> None:
    found = translate(page)
    page.click("#compare")
    page.wait_for_selector("body[data-compared=done]")
    alone = page.locator(".without").all_inner_texts()
    assert alone[0] == found[0]
    assert page.locator(".row:nth-child(1) mark").count() == 0
    different = [i for i, (one, other) in enumerate(zip(found, alone, strict=True)) if one != other]
    assert different, "context changes something"
    for i in different:
        assert page.locator(f".row:nth-child({i + 1}) mark").count() > 0
    assert f"{len(different)} of 4 translations are different" in page.inner_text("#status")
    page.click("#compare")
    assert not page.locator(".without").first.is_visible()


def test_a_correction_is_kept_and_later_sentences_follow(page: Page) -> None:
    before = translate(page)
    page.focus(".row:nth-child(1) .translation")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("Anna kaufte eine Lampe .")
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-corrected='0']")
    after = translations(page)
    assert after[0] == "Anna kaufte eine Lampe ."
    assert after[1:] != before[1:]


def test_escape_leaves_a_translation_as_it_was(page: Page) -> None:
    before = translate(page)
    page.click(".row:nth-child(2) .translation")
    page.keyboard.type("something else")
    page.keyboard.press("Escape")
    assert translations(page) == before
    assert page.evaluate("document.activeElement.className") == "translation"


def test_an_alternative_can_be_taken(page: Page) -> None:
    translate(page)
    row = 0  # the first that has any: an untrained model may have none
    while not page.locator(".alternatives button").count():
        page.keyboard.press("Escape")
        page.click(f".row:nth-child({row + 1}) .translation")
        row += 1
    choice = page.locator(".alternatives button").first
    text = choice.inner_text()
    choice.click()
    page.wait_for_selector(f"body[data-corrected='{row - 1}']")
    assert translations(page)[row - 1] == " ".join(text.split())


def test_arrow_keys_go_from_translation_to_translation(page: Page) -> None:
    translate(page)
    page.focus(".row:nth-child(1) .translation")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.row').dataset.index") == "1"


def test_subtitles_are_dropped_corrected_and_downloaded(page: Page, tmp_path: Path) -> None:
    data = page.evaluate_handle(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "film.srt", { type: "text/plain" }));
          return data;
        }""",
        SRT,
    )
    page.dispatch_event("body", "drop", {"dataTransfer": data})
    page.wait_for_selector("body[data-state=done]")
    assert page.inner_text("#title") == "film.srt"
    page.click(".row:nth-child(2) .translation")
    page.keyboard.press("Control+A")
    page.keyboard.type("Leb wohl.")
    page.click(".editor .main")
    page.wait_for_selector("body[data-corrected='1']")
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "film.de.srt"
    path = tmp_path / "film.srt"
    download.value.save_as(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    source = SRT.split("\n")
    assert [lines[i] for i in (0, 1, 3, 4, 5, 7)] == [source[i] for i in (0, 1, 3, 4, 5, 7)]
    assert lines[6] == "Leb wohl."


def test_terms_are_typed_and_those_that_were_not_used_are_shown(page: Page) -> None:
    page.focus("#glossary summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("lamp = Garten, Haus\n\nSUN = ☃")
    assert page.inner_text("#terms-count") == "2 terms"
    found = translate(page)
    assert "Garten" in found[0] or "Haus" in found[0]
    assert page.locator(".missed:visible").all_inner_texts() == ["Not used: SUN"]
    assert page.locator(".row:nth-child(4) .missed").is_visible()
    assert page.locator(".source .term").all_inner_texts() == ["lamp", "sun"]
    assert page.inner_text(".row:nth-child(4) .source") == "The sun shines."
    assert "Glossary: 1 of 2 terms used." in page.inner_text("#status")
    page.click(".row:nth-child(1) .translation")
    page.keyboard.press("Control+A")
    page.keyboard.type("Anna kaufte ein Licht .")
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-corrected='0']")
    assert page.inner_text(".row:nth-child(1) .missed") == "Not used: lamp"
    page.reload()
    assert page.input_value("#terms").startswith("lamp = Garten"), "kept in this tab"


def test_a_glossary_that_says_nothing_is_told_by_its_line(page: Page) -> None:
    page.click("#glossary summary")
    page.fill("#terms", "lamp = Haus\nsun")
    page.fill("#text", TEXT)
    page.press("#text", "Control+Enter")
    assert page.inner_text("#problem") == "Glossary, line 2: write it as term = translation."
    assert page.evaluate("document.activeElement.id") == "terms"
    page.fill("#terms", "lamp = Haus\nLamp = Garten")
    page.click("#translate")
    page.wait_for_selector("#problem:visible:has-text('twice')")
    assert page.inner_text("#problem") == "glossary, line 2: 'Lamp' is listed twice"


def test_a_glossary_is_dropped(page: Page) -> None:
    data = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          const lines = "\\ufefflamp\\tGarten\\tHaus\\r\\nsun\\tMond\\r\\n";
          data.items.add(new File([lines], "terms.tsv"));
          return data;
        }"""
    )
    page.dispatch_event("#glossary summary", "drop", {"dataTransfer": data})
    page.wait_for_selector("#terms-count:has-text('2 terms')")
    assert page.input_value("#terms") == "lamp\tGarten\tHaus\nsun\tMond"
    found = translate(page)
    assert "Garten" in found[0] or "Haus" in found[0]


def test_a_file_that_cannot_be_read_is_told(page: Page) -> None:
    page.set_input_files(
        "#file", {"name": "book.docx", "mimeType": "application/zip", "buffer": b"no zip"}
    )
    page.wait_for_selector("#problem:visible")
    assert "damaged" in page.inner_text("#problem")


def test_colours_follow_the_button_and_are_remembered(page: Page) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.click("#theme")
    dark = ground()
    assert light != dark
    page.reload()
    assert ground() == dark


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_the_screen(page: Page, width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 860})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert violations(page) == []
    page.click("#glossary summary")
    page.fill("#terms", "lamp = Haus\nsun = ☃")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    translate(page)
    page.click("#compare")
    page.wait_for_selector("body[data-compared=done]")
    page.wait_for_selector(".missed:visible")
    page.hover(".row:nth-child(4) .source")
    assert violations(page) == []
    page.click(".row:nth-child(2) .translation")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_description_of_the_interfaces_lists_them(page: Page) -> None:
    page.click("footer a")
    page.wait_for_selector("dt")
    assert "POST /translate" in page.locator("dt").all_inner_texts()
    assert violations(page) == []
