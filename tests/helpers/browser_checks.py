"""What every page of ours is asked in a browser: nothing goes wrong, nothing is fetched, axe-core finds nothing serious."""

from __future__ import annotations

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
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def unfold(page: Any) -> None:
    """Open the parts of a page of which the titles alone are seen."""
    page.evaluate("for (const one of document.querySelectorAll('details.part')) one.open = true")


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
