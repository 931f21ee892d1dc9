"""What Gradio's page is given: one empty box, which the page's own modules fill.

``gr.HTML(html_template=HTML, css_template=CSS, js_on_load=JS_ON_LOAD, apply_default_css=False)`` inside ``gr.Blocks``, and
``mount_gradio_app(..., head=HEAD, footer_links=[])``. ``STATIC`` is served at ``/static/``.
"""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from inpaintbench.pages import render
from inpaintbench.pages.page import TOKENS, asset

# Folder of modules, stylesheet and icon: plain files, none of them made by a build.
STATIC = Path(__file__).parent / "static"
# No `${value}` in it: Gradio would draw it anew whenever the value changed, and the player with it.
HTML = asset("annotate/app/rater.html")
# The served stylesheet does everything.
CSS = ""
JS_ON_LOAD = """import("/static/rater.js").then((page) => page.start(element.querySelector("#rater-page")));"""
HEAD = render(
    "annotate/app/rater_head.html", tokens=Markup(asset(TOKENS)), modules=sorted(path.name for path in STATIC.glob("*.js"))
)
