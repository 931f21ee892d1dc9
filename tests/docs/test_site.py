"""The documentation site: it builds without a warning, holds every page, and asks nobody but itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.docs.pages import PAGES, ROOT

pytest.importorskip("material", reason="MkDocs Material is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    for page in PAGES:
        if page != "README.md":
            assert (site / Path(page).relative_to("docs").with_suffix(".html")).exists()


def test_the_navigation_has_four_groups_and_every_page() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    groups = {next(iter(one)): next(iter(one.values())) for one in settings["nav"] if isinstance(next(iter(one.values())), list)}
    assert list(groups) == ["Tutorials", "How-to", "Concepts", "Reference"]
    named = {next(iter(one.values())) for pages in groups.values() for one in pages}
    assert {str(Path(page).relative_to("docs")) for page in PAGES if page.startswith("docs/")} - named == {"index.md"}


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
        for target in set(re.findall(r'<(?:a|img)\b[^>]*(?:href|src)="([^":#?]+)["#?]', path.read_text())):
            assert (path.parent / target).exists(), f"{path.relative_to(site)}: {target}"


def test_each_page_begins_with_what_the_reader_gets() -> None:
    """One heading, then a sentence before the first further heading."""
    for page, path in PAGES.items():
        if page.startswith("docs/"):
            first, _, rest = path.read_text().partition("\n")
            assert first.startswith("# "), page
            assert re.match(r"\n+(?:!\[|[\"*`\w])|\n+```", rest), page
