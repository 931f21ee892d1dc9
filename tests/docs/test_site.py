"""The documentation site: it builds without a warning, holds every page, and asks nobody but itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.pages import PAGES, ROOT

pytest.importorskip("material", reason="MkDocs Material is not installed")
MOST_IN_SIGHT = 15
"""Lines of the navigation beside a page: those of its tab, with the sections that are folded."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, str(ROOT / "scripts" / "site_pages.py"), str(folder / "build" / "docs")], check=True)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def settings() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    return loaded


def paths(entries: list[Any]) -> Iterator[str]:
    """Pages of a part of the navigation, in order."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from paths(below)


def test_every_page_is_there(site: Path) -> None:
    for page in PAGES:
        if page != "README.md":
            assert (site / Path(page).relative_to("docs").with_suffix(".html")).exists()


def test_nothing_but_pages_and_one_plugin_is_asked_of_the_generator() -> None:
    """Whatever else MkDocs could do, other generators that read its file leave out without a word."""
    assert settings()["plugins"] == ["search"]
    assert "hooks" not in settings()


def test_the_navigation_has_four_tabs_and_every_page() -> None:
    home, *tabs = settings()["nav"]
    assert home == "index.md"
    assert [next(iter(tab)) for tab in tabs] == ["Tutorials", "How-to", "Concepts", "Reference"]
    named = list(paths(settings()["nav"]))
    assert len(named) == len(set(named))
    assert {str(Path(page).relative_to("docs")) for page in PAGES if page.startswith("docs/")} <= set(named)


def test_few_pages_are_in_sight() -> None:
    for tab in settings()["nav"][1:]:
        entries = next(iter(tab.values()))
        sections = [len(next(iter(entry.values()))) for entry in entries if isinstance(entry, dict)]
        assert len(entries) + max(sections, default=0) <= MOST_IN_SIGHT + 1, tab


def test_pages_stand_in_the_navigation_under_their_own_titles(site: Path) -> None:
    page = (site / "index.html").read_text()
    navigation = page[page.index("md-nav--primary") :]
    for path in paths(settings()["nav"][1:]):
        html = Path(path).with_suffix(".html").as_posix()
        heading = re.search(r"<h1[^>]*>(.*?)<a", (site / html).read_text(), re.DOTALL)
        link = re.search(rf'href="{re.escape(html)}"[^>]*>(.*?)</a>', navigation, re.DOTALL)
        assert heading is not None, path
        assert link is not None, path
        assert plain(link[1]) == plain(heading[1]), path


def plain(html: str) -> str:
    """Text without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def test_pages_ask_nobody_but_the_site(site: Path) -> None:
    """Scripts, styles, pictures and frames; a link to another place is none of these."""
    for path in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", path.read_text()):
            assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", tag), f"{path.name}: {tag}"
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\"?(?:https?:)?//", path.read_text()), path.name


def test_links_inside_the_site_lead_somewhere(site: Path) -> None:
    """Those of the pages from outside docs/, too, which are mended on the way."""
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        text = re.sub(r"<script\b.*?</script>", "", path.read_text(), flags=re.DOTALL)
        for target in set(re.findall(r'<(?:a|img)\b[^>]*(?:href|src)="([^":#?]+)["#?]', text)):
            assert (path.parent / target).exists(), f"{path.relative_to(site)}: {target}"


def test_each_page_begins_with_what_the_reader_gets() -> None:
    """One heading, then a sentence before the first further heading."""
    for page, path in PAGES.items():
        if page.startswith("docs/"):
            first, _, rest = path.read_text().partition("\n")
            assert first.startswith("# "), page
            assert re.match(r"\n+(?:!\[|[\"*`\w])|\n+```", rest), page


def test_every_picture_says_what_is_to_be_seen(site: Path) -> None:
    pictures = 0
    for page in set(paths(settings()["nav"])) - {"worked_example/card.md"}:  # a card of a dataset has its own form
        text = (site / page).with_suffix(".html").read_text().partition("<article")[2].partition("</article>")[0]
        bare = re.sub(r"<figure>.*?<figcaption>[^<]{20,}</figcaption>\s*</figure>", "", text, flags=re.DOTALL)
        pictures += text.count("<img")
        # Those in italics below are longer than what is read to those who do not see the picture.
        assert len(re.findall(r"<img[^>]*>(?:</a>)?</p>\s*<p><em>", bare)) == bare.count("<img"), page
    assert pictures > 20
