"""What Gradio's page is given: one empty box, which the page's own modules fill.

``gr.HTML(html_template=HTML, css_template=CSS, js_on_load=JS_ON_LOAD, apply_default_css=False)`` inside ``gr.Blocks``, and
``mount_gradio_app(..., head=HEAD, footer_links=[])``. ``STATIC`` is served at ``/static/``.
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""Folder of modules, stylesheet and icon: plain files, none of them made by a build."""
HTML = '<div id="rater-page"><noscript>This page needs JavaScript.</noscript></div>'
"""No ``${value}`` in it: Gradio would draw it anew whenever the value changed, and the player with it."""
CSS = ""
"""The served stylesheet does everything."""
JS_ON_LOAD = """import("/static/rater.js").then((page) => page.start(element.querySelector("#rater-page")));"""
_MODULES = sorted(path.name for path in STATIC.glob("*.js"))
HEAD = "\n".join(
    (
        '<link rel="icon" type="image/svg+xml" href="/static/icon.svg">',
        '<link rel="stylesheet" href="/static/style.css">',
        # All at once: found one import after the other they would come in as many turns as they are deep.
        *(f'<link rel="modulepreload" href="/static/{name}">' for name in _MODULES),
    )
)
