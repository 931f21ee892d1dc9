"""What all pages of the site share: the frame around them, small pieces of HTML, and a policy that forbids everything else."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources
from string import Template

from inpaintbench.eval.leaderboard.board import Entry
from inpaintbench.eval.report.labels import PALETTE

_TITLES = {
    "summary": "Summary", "model": "Model", "preprocessing": "Preprocessing", "training_data": "Training data", "loss": "Loss",
    "parameters": "Parameters", "pretrained": "Pretrained from", "postprocessing": "Postprocessing", "compute": "Compute",
    "licence": "Licence", "citation": "Citation",
}  # fmt: skip
CARD_TITLES = _TITLES
"""Field of a method card -> its heading, in the order of the page."""


def page(*, title: str, body: str, sidebar: str, up: str, home: str) -> bytes:
    """A whole page that needs nothing but itself; ``up`` leads from it to the folder of the site."""
    style, script = _asset("style.css"), _asset("board.js")
    # Inside the page, since browsers disagree whether a file beside it, opened from disk, is of the same origin.
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy, "title": escape(title), "home": escape(home), "style": style, "script": script, "body": body,
        "sidebar": sidebar, "up": up,
    }  # fmt: skip
    return Template(_asset("page.html")).substitute(parts).encode()


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def colour(index: int) -> str:
    """The class that gives the colour of the submission of that number."""
    return f"c{index % len(PALETTE)}"


def method(entry: Entry, index: int, *, up: str) -> str:
    """A method's title as a link to its page, its label below."""
    link = f'<a href="{up}methods/{entry.page}">{escape(entry.submission.card.title)}</a>'
    return (
        f'<span class="method {colour(index)}"><i class="dot" aria-hidden="true"></i><span class="names">{link}'
        f'<span class="label">{escape(entry.label)}</span></span></span>'
    )


def badges(entry: Entry, *, items: int) -> str:
    """Whether numbers were measured again, and how many items are missing."""
    found = "" if entry.competes else '<span class="badge" title="a floor to see others against">reference</span>'
    if entry.verdict is not None:
        good = entry.verdict.agrees
        words = f"verified on {len(entry.verdict.items)}" if good else "not verified"
        title = (
            f"{entry.verdict.values} numbers of {len(entry.verdict.items)} items were measured again and agree"
            if good
            else entry.verdict.reason or "nothing could be measured again"
        )
        found += f'<span class="badge {"good" if good else ""}" title="{escape(title)}">{words}</span>'
    if entry.missing:
        found += f'<span class="badge warn" title="items without a prediction">{len(entry.missing)} of {items} missing</span>'
    return found


def hidden(words: str) -> str:
    """Words for screen readers."""
    return f'<span class="sr">{escape(words)}</span>'
