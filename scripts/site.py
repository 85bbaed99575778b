"""A hook of MkDocs: brings the pages that live outside docs/ into the site, with their links.

The README is the start page. Links that lead out of docs/ lead to these pages; where the site has
no page for a file (an example, a script), its name stays as text.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def _results() -> list[Path]:
    return sorted((ROOT / "results").glob("*.md"))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of results in the navigation."""
    for section in config.nav or []:
        if "Results" in section:
            section["Results"] = [{_title(path): f"results/{path.name}"} for path in _results()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/."""
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_relinked(text, ROOT, page)))
    for path in sorted((ROOT / "results").rglob("*.md")):
        page = path.relative_to(ROOT).as_posix()
        text = _relinked(path.read_text(encoding="utf-8"), path.parent, page)
        files.append(File.generated(config, page, content=text))
    for path in (ROOT / "results").rglob("*.svg"):
        page = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, page, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead the links of docs/ that leave the folder to their pages."""
    source = ROOT / "docs" / page.file.src_uri
    return _relinked(markdown, source.parent, page.file.src_uri) if source.exists() else markdown


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _relinked(text: str, folder: Path, page: str) -> str:
    """The text of a page, written in `folder`, with links that hold on the site."""
    up = "../" * page.count("/")

    def link(match: re.Match[str]) -> str:
        picture, words, path, place = match.groups(default="")
        target = (folder / path).resolve()
        if not target.is_relative_to(ROOT):
            return match[0]
        name = target.relative_to(ROOT).as_posix()
        on_site = name.startswith(("docs/", "results/")) or name in OUTSIDE
        if target.exists() and (not on_site or target.is_dir()):
            return words  # a file without a page
        return f"{picture}[{words}]({up}{OUTSIDE.get(name, name.removeprefix('docs/'))}{place})"

    return LINK.sub(link, text)
