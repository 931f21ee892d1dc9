"""The pages that need no Gradio: login, and one sentence where something is refused. Small, escaped, light and dark."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, JSONResponse, Response

UNAVAILABLE = "the journal does not answer right now, nothing was stored; try again in a moment"
"""Instead of the journal's own sentence, which names files and hosts of the server."""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2a78d6"/>'
    '<rect x="7" y="9" width="8" height="14" rx="1.5" fill="#fff"/>'
    '<rect x="17" y="9" width="8" height="14" rx="1.5" fill="none" stroke="#fff" stroke-width="2" stroke-dasharray="3 2"/></svg>'
)
_STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --card: #fff; --ink: #171717; --soft: #5f5e5a; --line: #d9d8d3;
  --act: #2a78d6; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #171716; --card: #21211f; --ink: #f2f1ee; --soft: #a8a69f; --line: #3d3c39; --act: #5b9ce8; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; padding: 16px; }
main { width: min(400px, 100%); background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 32px; }
h1 { font-size: 22px; line-height: 1.25; margin: 0 0 6px; overflow-wrap: anywhere; }
p { color: var(--soft); margin: 0 0 20px; overflow-wrap: anywhere; }
p:last-child { margin: 0; }
label { display: block; font-size: 14px; margin-bottom: 14px; }
input { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 12px; margin-top: 4px; }
button { width: 100%; font: inherit; font-weight: 600; color: #fff; background: #2168bf; border: 0;
  border-radius: 8px; padding: 11px; }
button, input { min-height: 44px; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
.alert { color: #b3261e; font-size: 14px; }
@media (prefers-color-scheme: dark) { .alert { color: #ff8a80; } }
"""


def login_page(title: str, *, sentence: str = "", status: int = 200) -> Response:
    """Name and password, under the study's title.

    Args:
        title: of the study.
        sentence: why the last attempt was refused.
        status: of the answer.
    """
    alert = f'<p class="alert" role="alert">{escape(sentence)}</p>' if sentence else ""
    field = '<label>{}<input name="{}" type="{}" autocomplete="{}" maxlength="200" required></label>'
    name = field.format("Name", "name", "text", "username")
    password = field.format("Password", "password", "password", "current-password")
    form = f'<form method="post" action="/login">{name}{password}{alert}<button>Log in</button></form>'
    invited = "<p>If you were sent an invitation link, open it instead: it logs you in.</p>"
    return HTMLResponse(_page(title, invited + form), status_code=status)


def refusal(status: int, sentence: str, *, as_page: bool) -> Response:
    """One sentence, as JSON for programs or as a page for people."""
    if not as_page:
        return JSONResponse({"error": sentence}, status_code=status)
    said = sentence[:1].upper() + sentence[1:] + "."
    return HTMLResponse(_page(f"Sorry ({status})", f"<p>{escape(said)}</p>"), status_code=status)


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,'
        f'initial-scale=1"><meta name="robots" content="noindex"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
