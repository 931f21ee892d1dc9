"""Frame around all pages of the site, and the tags of a submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from inpaintbench.eval.report.tables import form_tags
from inpaintbench.eval.results.cautions import between_items_tags
from inpaintbench.pages import Link, method_styles
from inpaintbench.pages import page as whole_page
from inpaintbench.pages.tables import Cell, Tag
from inpaintbench.wings.leaderboard.board import Board, Entry

CLIPS = "clips.html"
# Field of a method card -> its heading, in the order of the page.
CARD_TITLES = {
    "summary": "Summary", "model": "Model", "preprocessing": "Preprocessing", "training_data": "Training data", "loss": "Loss",
    "parameters": "Parameters", "pretrained": "Pretrained from", "postprocessing": "Postprocessing", "compute": "Compute",
    "licence": "Licence", "citation": "Citation",
}  # fmt: skip


class Sister(NamedTuple):
    """A page in the list beside a page."""

    href: str
    text: str
    level: str | None = None
    items: int | None = None
    here: bool = False


def links(up: str, *, clips: bool) -> tuple[Link, ...]:
    """Links of the bar; ``up`` as for ``page``, ``clips`` where the site has such a page."""
    front = f"{up}index.html"
    return (
        Link(front, "Leaderboard"), *((Link(f"{up}{CLIPS}", "Clips"),) if clips else ()), Link(f"{front}#methods", "Methods"),
        Link(f"{front}#reading", "How to read"), Link(f"{front}#downloads", "Downloads"),
    )  # fmt: skip


def page(
    template: str, board: Board, *, title: str, home: str, up: str, side_title: str, side: Sequence[Sister], clips: bool,
    **parts: Any,
) -> bytes:  # fmt: skip
    """A whole page that needs nothing but itself; ``up`` leads from it to the folder of the site, ``home`` is its title."""
    return whole_page(
        f"wings/leaderboard/{template}",
        title=title,
        links=links(up, clips=clips),
        styles=method_styles([entry.label for entry in board.entries], board.results.aside),
        scripts=["wings/leaderboard/board.js"],
        board=board,
        results=board.results,
        home=home,
        up=up,
        side_title=side_title,
        side=side,
        **parts,
    ).encode()


def method_cell(entry: Entry, board: Board, *, up: str) -> Cell:
    """A method's title as a link to its page, its label and tags."""
    return Cell(
        entry.submission.card.title, method=entry.label, reference=entry.submission.header.reference,
        href=f"{up}methods/{entry.page}", tags=tags(entry, board), below=entry.label,
    )  # fmt: skip


def tags(entry: Entry, board: Board) -> tuple[Tag, ...]:
    """Tags that say whether numbers were measured again, on which of several versions, and how many items are missing."""
    found = [*form_tags(entry.effort), *between_items_tags(entry.effort)]
    if entry.verdict is not None:
        n = len(entry.verdict.items)
        told = f"{entry.verdict.values} numbers of {n} items were measured again and agree"
        found.append(
            Tag(f"verified on {entry.part_measured or n}", "good", told)
            if entry.verdict.agrees
            else Tag("not verified", "more", entry.verdict.reason or "nothing could be measured again")
        )
    elif not (entry.trusted or entry.submission.header.reference):
        found.append(Tag("not measured again", "more", "the numbers are the submitters' own, and hold no place"))
    if len(board.versions) > 1:
        found.append(Tag(entry.version.rpartition("@")[2].partition("+")[0], "more", f"scored on {entry.version}"))
    if entry.missing:
        found.append(Tag(f"{len(entry.missing)} of {len(board.results.sources)} missing", "warn", "items without a prediction"))
    return tuple(found)
