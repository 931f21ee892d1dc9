"""What every page of ours is asked in a browser: nothing goes wrong, nothing is fetched, axe-core finds nothing serious."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

GRAVE = ("serious", "critical")


class OpenPage:
    """One page and everything it complained about or asked for.

    Args:
        browser: of Playwright.
        address: a ``file:`` or ``http:`` address.
        settings: of the context, such as ``color_scheme="dark"`` or ``viewport``.
    """

    def __init__(self, browser: Any, address: str, **settings: Any) -> None:
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        self.context = browser.new_context(**{**usual, **settings})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def fetched(self, folder: Path) -> list[str]:
        """What was asked for that is neither in the page nor in the folder."""
        own = (folder.as_uri() + "/", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    def sticks_out(self) -> int:
        return sticks_out(self.page)


def comes_to(page: Any, expression: str, wanted: Any) -> Any:
    """What a JavaScript expression gives: once that is ``wanted``, else after ten seconds, as a busy browser follows later."""
    for _ in range(100):
        if page.evaluate(expression) == wanted:
            break
        page.wait_for_timeout(100)
    return page.evaluate(expression)


def repainted(page: Any) -> None:
    """Let a page draw what it puts off to its next repaint."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")


def sticks_out(page: Any) -> int:
    """By how many pixels a page is wider than its window, once what follows the window's size has done so."""
    return int(comes_to(page, "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)", 0))


def unfold(page: Any) -> None:
    """Open the parts of a page of which the titles alone are seen."""
    page.evaluate("for (const one of document.querySelectorAll('details.part')) one.open = true")


def sheets(pdf: bytes) -> list[str]:
    """The letters on each sheet of a PDF that Chromium made, in the order it draws them, without spaces between words."""
    objects = {int(number): body for number, body in re.findall(rb"(?s)\n(\d+) 0 obj\n(.*?)\nendobj", pdf)}

    def stream(number: bytes) -> bytes:
        return zlib.decompress(objects[int(number)].split(b"stream\n", 1)[1])

    letters: dict[bytes, dict[int, str]] = {}
    for name, font in set(re.findall(rb"/(F\d+) (\d+) 0 R", pdf)):
        known = stream(re.findall(rb"/ToUnicode (\d+) 0 R", objects[int(font)])[0])
        table = letters[name] = {}
        for part in re.findall(rb"(?s)beginbfchar(.*?)endbfchar", known):
            for one, to in re.findall(rb"<(\w+)> <(\w+)>", part):
                table[int(one, 16)] = bytes.fromhex(to.decode()).decode("utf-16-be")
        for first, last, to in (tuple(int(one, 16) for one in row) for row in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>", known)):
            table |= {one: chr(to + one - first) for one in range(first, last + 1)}
    texts = []
    for number in re.findall(rb"/Type /Page\b(?s:.*?)/Contents (\d+) 0 R", pdf):
        text, table = "", {}
        for name, glyphs in re.findall(rb"/(F\d+) \S+ Tf|<([0-9A-Fa-f]+)>", stream(number)):
            table = letters[name] if name else table
            text += "".join(table.get(int(glyphs[at : at + 4], 16), "?") for at in range(0, len(glyphs), 4))
        texts.append(text)
    return texts


CONTROLS = """() => [...document.querySelectorAll(
    'button, a[href], input, select, textarea, summary, [role=button], [role=slider]')]
  .filter((one) => one.getClientRects().length && one.checkVisibility({ visibilityProperty: true })).length"""


def first_look(page: Any) -> tuple[float, int]:
    """How many windows a page is high, and how many controls are seen on it."""
    high = page.evaluate("document.documentElement.scrollHeight / window.innerHeight")
    return float(high), int(page.evaluate(CONTROLS))


def serious_findings(page: Any, *, colours_only: bool = False) -> list[str]:
    """What axe-core calls serious or critical: rule, what it wants, and the first elements concerned.

    ``colours_only`` asks for contrast alone, all that another colour scheme can change.
    """
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if colours_only:
        options["runOnly"] = ["color-contrast"]
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['impact']}: {one['id']}: {one['help']}: " + "; ".join(node["html"][:160] for node in one["nodes"][:4])
        for one in found
        if one["impact"] in GRAVE
    ]
