"""A real Chromium, and a real Firefox, in front of the stand-in server."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.annotate.app.browser.barcodes import write_proxy
from tests.annotate.app.browser.standin import Desk, Standin, running

FPS = 30.0


@pytest.fixture(scope="session")
def proxies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Name -> media, tiles and outline."""
    folder = tmp_path_factory.mktemp("proxies")
    name = (f"{number:032x}" for number in itertools.count(1))
    made = {
        "clip": write_proxy(folder / f"{next(name)}.mp4", players=1, frames=24, fps=FPS),
        "pair": write_proxy(folder / f"{next(name)}.mp4", players=4, frames=45, fps=FPS),
        "pair again": write_proxy(folder / f"{next(name)}.mp4", players=4, frames=30, fps=FPS),
        "set": write_proxy(folder / f"{next(name)}.mp4", players=5, frames=20, fps=FPS),
        "plain": write_proxy(folder / f"{next(name)}.mp4", players=2, frames=20, fps=FPS, plain=True),
        "picture": write_proxy(folder / f"{next(name)}.png", players=3, frames=1, fps=1.0),
    }
    return {**made, "folder": folder}


@pytest.fixture(scope="session")
def server(proxies: dict[str, Any]) -> Iterator[Server]:
    standin = Standin(proxies["folder"])
    with running(standin.app) as address:
        yield Server(standin, address)


class Server:
    def __init__(self, standin: Standin, address: str) -> None:
        self.standin, self.address = standin, address


class Tab:
    """A page of one rater in a context of its own, and everything it complained about."""

    def __init__(
        self, browser: Any, address: str, desk: Desk, name: str, options: dict[str, Any], *, cuttable: bool = False
    ) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce", **options})
        self.desk, self.address, self.name = desk, address, name
        self.expected: tuple[str, ...] = ()
        self.complaints: list[str] = []
        self._cuttable = cuttable
        self.requests: list[str] = []
        self.open()

    def open(self) -> None:
        """A new tab in the same browser."""
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        if self._cuttable:  # from the beginning: Chromium lets requests pass for a while after it was told to look at them
            self.page.route("**/api/**", lambda route: route.abort() if self.desk.cut else route.continue_())
        self.page.goto(f"{self.address}/join/{self.name}")

    def wait(self, condition: str, *, seconds: float = 10) -> None:
        """Until a JavaScript expression holds; ``page`` and ``clock`` are the page's own."""
        body = f"() => {{ const page = window.raterPage?.page; const clock = page?.stage.clock; return page && ({condition}); }}"
        self.page.wait_for_function(body, timeout=seconds * 1000)

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(
            f"() => {{ const page = window.raterPage.page; const clock = page.stage.clock; return ({expression}); }}"
        )

    def wait_for_card(self, number: int, *, opened: bool = True) -> None:
        """Until the card of that number is shown and its answers are open."""
        more = "&& !page.stage.form.locked" if opened else ""
        self.wait(f"page.card?.task === 'task-{number}' && clock.media {more}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, value: str) -> None:
        self.page.click(f'#rater-page .option[data-value="{value}"]')

    def waiting(self, count: int) -> None:
        """Until the page says how many answers wait for the network."""
        said = self.page.get_by_text(f"Answers waiting for the network: {count}")
        try:
            said.wait_for()
        except Exception as error:
            state = "({task: page.card?.task, locked: page.stage.form.locked, entries: page.outbox.entries.map(one => one.route),"
            state += " failures: page.outbox.failures, sending: Boolean(page.outbox.sending), online: navigator.onLine,"
            state += " focused: document.hasFocus(), said: document.querySelector('.link')?.textContent})"
            raise AssertionError(
                f"the page does not say it: {self.ask(state)}, {self.complaints}, {self.requests[-5:]}"
            ) from error

    def saved(self) -> None:
        """Until the server has everything."""
        self.wait("page.outbox.size === 0")


@pytest.fixture
def enter(browser: Any, server: Server) -> Iterator[Callable[..., Tab]]:
    """Open a page for a desk; at the end no page may have complained."""
    tabs: list[Tab] = []

    def open_tab(
        cards: list[dict[str, Any]], *, desk: dict[str, Any] | None = None, cuttable: bool = False, **options: Any
    ) -> Tab:
        if browser.browser_type.name == "firefox" and {"has_touch", "color_scheme"} & options.keys():
            pytest.skip("its driver has no fingers, and changes no colour scheme")
        name = f"rater-{len(server.standin.desks)}"
        server.standin.desks[name] = Desk(cards=cards, **(desk or {}))
        tabs.append(Tab(browser, server.address, server.standin.desks[name], name, options, cuttable=cuttable))
        return tabs[-1]

    yield open_tab
    complaints = [text for tab in tabs for text in tab.complaints if not any(one in text for one in tab.expected)]
    for tab in tabs:
        tab.context.close()
    assert complaints == []
