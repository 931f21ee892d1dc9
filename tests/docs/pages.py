"""What the pages of the documentation tell people to type."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
"""Name below the repository -> file."""
PROGRAMS = (".", "inpaintbench", "make", "python", "pip", "mkdocs", "export", "jq", "docker")
COUNTED = ("docs/tutorials/", "docs/how-to/use_from_python.md")
"""Pages that bring their own footage, so that what they count is the same everywhere."""
MADE = frozenset(f"docs/{name}.md" for name in re.findall(r'DOCS / "(\w+)\.md"', (ROOT / "scripts" / "tables.py").read_text()))
"""Pages that ``scripts/tables.py`` makes whole: ``tests/wings/test_docs.py`` compares them with what it makes."""
CLAIM = "claim"
"""Language of a comment ``<!-- true: EXPRESSION -->``: what the sentence above says, of what the page has printed and written."""
SHELLS = ("", "sh", "bash")
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^ *```$|<!-- true: (?P<claim>.*?) -->", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block, or a claim.

    Args:
        page: where it stands, as in ``PAGES``.
        language: its first word, "" where there is none.
        title: the file that it is to be written to, "" for a block that is not one.
        text: what stands between the fences.
    """

    page: str
    language: str
    title: str
    text: str

    def commands(self) -> list[str]:
        """Its command lines without comments, continued ones joined; none of a block in another language than a shell's."""
        if self.language not in SHELLS:
            return []
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        bare = [_without_comment(line) for line in lines]
        return [line for line in bare if line.split(" ")[0] in PROGRAMS]


def blocks_of(page: str) -> list[Block]:
    """All fenced blocks and claims of a page, in order."""
    found = []
    for match in _BLOCK.finditer(PAGES[page].read_text()):
        if match["claim"]:
            found.append(Block(page, CLAIM, "", " ".join(match["claim"].split())))
            continue
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        found.append(Block(page, language, title[1] if title else "", text))
    return found


def words_of(command: str) -> list[str]:
    """The words of a command line as a shell would split it."""
    return shlex.split(command, comments=True)


def check_shown(block: Block, printed: str) -> None:
    """Each line that the page shows was printed, but for identifiers, numbers and how it is broken into lines.

    Of ``COUNTED`` numbers have to be those of the page too.
    """
    found = _salient(block.page, printed)
    for line in block.text.splitlines():
        if line.strip() not in ("", "..."):
            assert _salient(block.page, line) in found, f"{block.page} shows {line!r}, which is not in\n{printed}"


def _salient(page: str, text: str) -> str:
    letters = re.sub(r"[│┃┏┓┗┛┡┩├┤┬┴┼━─╇╈└┘┌┐┳┻|]", " ", text)
    named = re.sub(r"\b[0-9a-f]{8,64}\b", "#", letters)
    return " ".join((named if page.startswith(COUNTED) else re.sub(r"\d+(?:[.,]\d+)*", "#", named)).split())


def _without_comment(line: str) -> str:
    return re.sub(r"\s+#\s.*$", "", line).strip()


# Digits within names (H.264, E2FGVI, CC-BY-4.0) and years are no counts.
_NUMBER = re.compile(
    r"(?<![\w.:/-])(?!(?:19|20)\d\d\b)\d[\d.,]*(?![\w-]*[A-Z])|\d+x\d+|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|fifty|hundreds?|thousands?|millions?|dozen|half|quarter|"
    r"an? (?:minute|hour|day)|wins?|loses?|beats?)\b",
    re.IGNORECASE,
)


def unproved(text: str) -> list[str]:
    """Paragraphs of a page's text that say a number or who wins, without a claim or why nothing can prove it (``said:``).

    The list of installed packages is made by ``scripts/sbom.py`` and compared by ``tests/test_packaging.py``.
    """
    prose = re.sub(r"^ *```.*?^ *```$|^#[^\n]*$|<!-- installed packages.*<!-- end of", "", text, flags=re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n{2,}(?!<!--)|\n(?=\d\. )", prose)
    bare = {
        text: re.sub(r"`[^`]*`|\]\([^)]*\)|!\[[^\]]*\]|SHA-256|^\d\. |<!--.*?-->", "", text, flags=re.DOTALL)
        for text in paragraphs
    }
    return [text for text in paragraphs if _NUMBER.search(bare[text]) and not re.search(r"<!-- (?:true|said): ", text)]
