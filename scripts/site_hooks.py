"""MkDocs hooks: pages of the repository that lie outside docs/ become pages of the site, and links to them lead there."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "CONTRIBUTING.md": "repository/contributing.md",
    "bench/README.md": "repository/bench.md",
    "examples/outside_leaf/README.md": "repository/outside_leaf.md",
}
"""Page of the repository, from its root -> page of the site."""
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside."""
    for name, inside in OUTSIDE.items():
        files.append(File.generated(config, inside, content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, **_others: Any) -> str:
    """Mend links that leave docs/: to the page of the site, or to a name where the site has no such page."""
    place = page.file.src_uri
    here = next((name for name, inside in OUTSIDE.items() if inside == place), f"docs/{place}")

    def mended(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), match[1]))
        if target.startswith("docs/"):
            inside = target.removeprefix("docs/")
        elif target in OUTSIDE:
            inside = OUTSIDE[target]
        else:
            return f"] (`{target}`)"
        return f"]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{match[2] or ''})"

    return re.sub(r"\[([^\]]+)\] \(`", r"\1 (`", _LINK.sub(mended, markdown))
