"""Copy the pages of the site into one folder, those of the repository that lie outside docs/ too. Usage: site_pages.py [FOLDER]

A copy, and no hook of a site generator: both MkDocs and Zensical build from it.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "build" / "docs"
"""``docs_dir`` of mkdocs.yml."""
OUTSIDE = {
    "CONTRIBUTING.md": "repository/contributing.md",
    "bench/README.md": "repository/bench.md",
    "examples/outside_leaf/README.md": "repository/outside_leaf.md",
    "examples/missed_rim/README.md": "worked_example/films.md",
    "examples/missed_rim/pages/card/README.md": "worked_example/card.md",
}
"""Page of the repository, from its root -> page of the site."""
WHOLE = {
    "examples/missed_rim/pages/report/": "worked_example/report/",
    "examples/missed_rim/pages/leaderboard/": "worked_example/leaderboard/",
    "examples/missed_rim/pages/card/card/": "worked_example/card/",
}
"""Folder of the repository with pages that are shown as they are, or pictures -> folder of the site."""
_FIGURE = re.compile(r"^(!\[([^\]]+)\]\([^)]+\))\n(?=\n(?!\*)|!|\Z)", re.MULTILINE)
"""A picture that is a paragraph of its own, and has no caption in italics below it."""
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def copy_pages(folder: Path) -> None:
    """Replace ``folder`` by the site's pages, with links that lead inside the site."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for path in folder.rglob("*.md"):
        place = path.relative_to(folder).as_posix()
        path.write_text(with_captions(with_links_inside(path.read_text(), f"docs/{place}", place)))
    for name, place in WHOLE.items():
        shutil.copytree(ROOT / name, folder / place)
    for name, place in OUTSIDE.items():
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(with_links_inside((ROOT / name).read_text(), name, place))


def with_captions(markdown: str) -> str:
    """Return a page whose pictures say below them what is to be seen: what is read to those who do not see them."""
    return _FIGURE.sub(r'<figure markdown="span">\n\1\n<figcaption>\2</figcaption>\n</figure>\n', markdown)


def with_links_inside(markdown: str, name: str, place: str) -> str:
    """Return a page with links that leave docs/ mended: to the page of the site, or to a name where the site has no such page.

    Args:
        markdown: its text.
        name: where it lies in the repository, from its root.
        place: where it lies in the site.
    """

    def mended(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
        if target.startswith("docs/"):
            inside = target.removeprefix("docs/")
        elif target in OUTSIDE:
            inside = OUTSIDE[target]
        elif whole := next((name for name in WHOLE if target.startswith(name)), None):
            inside = WHOLE[whole] + target.removeprefix(whole)
        else:
            return f"] (`{target}`)"
        return f"]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{match[2] or ''})"

    return re.sub(r"\[([^\]]+)\] \(`", r"\1 (`", _LINK.sub(mended, markdown))


if __name__ == "__main__":
    copy_pages(Path(sys.argv[1]) if sys.argv[1:] else PLACE)
