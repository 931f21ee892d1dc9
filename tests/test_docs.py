"""The documentation says what the program does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.docs.pages import MADE, PAGES

import inpaintbench

ROOT = Path(__file__).parent.parent


def test_every_make_verb_in_the_docs_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for verb in set(re.findall(r"make ([a-z-]+)`", page.read_text())):
            assert re.search(rf"^{verb}:", makefile, re.MULTILINE), f"make {verb}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_messages_that_are_explained_are_those_of_the_program() -> None:
    told = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "troubleshooting.md").read_text(), re.MULTILINE)
    assert len(told) > 10
    source = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    assert [text for text in told if text not in source] == []


def test_the_docs_stay_within_their_budget() -> None:
    """Words of what people write, as ``wc -w`` counts them, without pages and lists that are made, and comments."""
    pages = [ROOT / "CONTRIBUTING.md", *(path for page, path in PAGES.items() if page not in MADE)]
    unread = re.compile(r"<!-- installed packages.*<!-- end of installed|<!--.*?-->", re.DOTALL)
    words = sum(len(unread.sub("", page.read_text()).split()) for page in pages)
    assert words <= tomllib.loads((ROOT / "budgets.toml").read_text())["docs"]["words"]


def test_no_empty_line_splits_a_table() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for before, after in re.findall(r"^\|.*\|\n\n(\|.*)\n(.*)$", page.read_text(), re.MULTILINE):
            assert re.match(r"\|[-:| ]+$", after), f"{page.name}: {before}"


def test_the_tree_of_the_readme_names_what_is_there() -> None:
    tree = (ROOT / "CONTRIBUTING.md").read_text().partition("## The tree\n")[2].split("```")[1]
    named = re.findall(r"^(\w+/|\w+\.py)|\b(\w+\.py)", tree, re.MULTILINE)
    assert len(named) > 15
    for path in ("".join(pair) for pair in named):
        assert (ROOT / "src" / "inpaintbench" / path).exists(), f"CONTRIBUTING.md: {path}"


def test_the_map_for_contributors_names_a_file_for_each_change() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Map\n")[2].partition("\n## ")[0]
    paths = re.findall(r"^\| .+ \| `(src/[^`]+)` \|$", section, re.MULTILINE)
    assert len(paths) >= 8
    for path in paths:
        assert (ROOT / path).is_file(), f"CONTRIBUTING.md: {path}"


def test_the_changelog_knows_this_version() -> None:
    assert f"## {inpaintbench.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_no_lock_file_names_an_address() -> None:
    locks = [*ROOT.glob("requirements*.lock"), *(ROOT / "src").rglob("requirements.lock")]
    assert len(locks) == 7
    for path in locks:
        text = path.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text


def test_no_hint_installs_from_an_index_that_has_not_the_package() -> None:
    texts = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for path in texts:
        assert not re.search(r"pip install [^`\n]*\binpaintbench\b(?!\.)", path.read_text()), path
