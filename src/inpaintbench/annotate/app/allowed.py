"""The requests that exist. Everything else that Gradio could serve is not found before Gradio sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal

# A Gradio page; JSON; the login form; a file; a page or redirect without Gradio.
Kind = Literal["page", "api", "form", "file", "plain"]


class Who(Enum):
    """Whom a request is open to."""

    ANYBODY = "anybody"
    RATER = "raters alone"
    PERSON = "raters and admins"
    ADMIN = "admins"


@dataclass(frozen=True)
class Rule:
    """One kind of request."""

    method: Literal["GET", "POST"]
    path: re.Pattern[str]
    """Of the whole path, plain ASCII: nothing here needs percent signs."""
    who: Who
    kind: Kind
    of_gradio: bool = False


def _rule(method: Literal["GET", "POST"], path: str, who: Who, kind: Kind, *, of_gradio: bool = False) -> Rule:
    return Rule(method, re.compile(path, re.ASCII), who, kind, of_gradio)


_GRADIO_FILES = r"(?:assets/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+|theme\.css|static/js/iframeResizer\.contentWindow\.min\.js)"

# Gradio's own API is closed but for the one route that the admin page's events use; they are made with `queue=False`.
RULES = (
    _rule("GET", r"/", Who.PERSON, "page", of_gradio=True),
    _rule("GET", rf"/{_GRADIO_FILES}", Who.PERSON, "file", of_gradio=True),
    _rule("POST", r"/api/(?:work|answers|skips|undos)", Who.RATER, "api"),
    _rule("GET", r"/media/[0-9a-f]{32}\.(?:mp4|png)", Who.PERSON, "file"),
    _rule("GET", r"/static/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+", Who.PERSON, "file"),
    _rule("POST", r"/logout", Who.PERSON, "api"),
    _rule("GET", r"/join/[A-Za-z0-9_-]{1,200}", Who.ANYBODY, "plain"),
    _rule("GET", r"/login", Who.ANYBODY, "plain"),
    _rule("POST", r"/login", Who.ANYBODY, "form"),
    _rule("GET", r"/favicon\.ico", Who.ANYBODY, "plain"),
    _rule("GET", r"/admin", Who.ADMIN, "plain"),
    _rule("GET", r"/admin/", Who.ADMIN, "page", of_gradio=True),
    _rule("GET", r"/admin/judgements\.csv", Who.ADMIN, "file"),
    _rule("GET", rf"/admin/{_GRADIO_FILES}", Who.ADMIN, "file", of_gradio=True),
    _rule("POST", r"/admin/gradio_api/run/predict", Who.ADMIN, "api", of_gradio=True),
)


def rules_of(path: str) -> list[Rule]:
    """The rules of ``path``, at most one a method; none when there is no such page."""
    return [rule for rule in RULES if rule.path.fullmatch(path)]
