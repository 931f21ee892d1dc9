"""Pages without Gradio's components: login, one sentence where something is refused; and what the rater's page is made of."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from inpaintbench.annotate.player import component
from inpaintbench.pages import render
from inpaintbench.pages.page import TOKENS, asset

# Instead of the journal's own sentence, which names files and hosts of the server.
UNAVAILABLE = "the journal does not answer right now, nothing was stored; try again in a moment"


def login_page(title: str, *, sentence: str = "", status: int = 200) -> Response:
    """Name and password, under the study's title.

    Args:
        title: of the study.
        sentence: why the last attempt was refused.
        status: of the answer.
    """
    return _page(title, sentence, status=status, form=True)


def refusal(status: int, sentence: str, *, as_page: bool) -> Response:
    """One sentence, as JSON for programs or as a page for people."""
    if not as_page:
        return JSONResponse({"error": sentence}, status_code=status)
    return _page(f"Sorry ({status})", sentence[:1].upper() + sentence[1:] + ".", status=status)


def sentence_page(title: str, sentence: str) -> Response:
    """A title and a sentence."""
    return _page(title, sentence, status=200)


def _page(title: str, sentence: str, *, status: int, form: bool = False) -> Response:
    tokens = Markup(asset(TOKENS))
    html = render("annotate/app/sentence.html", title=title, sentence=sentence, form=form, tokens=tokens)
    return HTMLResponse(html, status_code=status)


# Folder of modules, stylesheet and icon: plain files, none of them made by a build.
STATIC = Path(__file__).parent / "static"
# Where the app serves the player's own, below those of the page.
PLAYER_MODULES = "/static/player"
# The player's component comes after the box, and moves into it. No `${value}`: Gradio would draw the page anew with every value.
HTML = asset("annotate/app/rater.html") + "@children"
CSS = component.BASICS
JS_ON_LOAD = """import("/static/rater.js").then((page) => page.start(element));"""
HEAD = render(
    "annotate/app/rater_head.html",
    colours=Markup(asset(TOKENS) + asset("annotate/player/static/colours.css")),
    modules=[
        *(f"/static/{path.name}" for path in sorted(STATIC.glob("*.js"))),
        *(f"{PLAYER_MODULES}/{path.name}" for path in sorted(component.STATIC.glob("*.js"))),
    ],
)
