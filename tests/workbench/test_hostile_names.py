"""Names of methods, films, slices and folders that strangers chose: on every page they are words, and do nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser_checks import OpenPage
from hostile import NAMES, resealed
from tests.eval.report.hand_made import FlatMedia, dataset, scores
from tests.workbench.test_server import asked

from inpaintbench import frozen
from inpaintbench.errors import VerifyError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write_report
from inpaintbench.files import file_sha256
from inpaintbench.types import Score
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.server import Server
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")

# What a name would leave behind that was taken for markup or for a script.
TRACES = """() => [document.title.includes('broken'), window.broken === undefined ? '' : 'ran',
  [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((own) => own.name.startsWith('on'))).length,
  document.querySelectorAll('img[src="x"], svg[onload], b.hostile').length]"""
NONE = [False, "", 0, 0]
OF_SLICES = ("a picture", "quotes", "long")
"""Names that a slice may have; of others the manifest is refused."""
RUN = "<b class=hostile>run</b> ' \" & \u202ekcab"


@pytest.fixture
def shown(own: Path) -> Iterator[Server]:
    """``waves`` with films and slices of such names, and a run in a folder of such a name whose methods have them too."""
    names = list(NAMES.values())
    before = [part.name for part in frozen.load(own / "waves").slices]
    called = dict(zip(before, [NAMES[name] for name in OF_SLICES], strict=True))

    def rename(rows: list[dict[str, Any]]) -> None:
        for place, row in enumerate(rows):
            row["source_uri"] = names[(place + 3) % len(names)]

    def members(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["slice"] = called[row["slice"]]

    def root(stated: dict[str, Any]) -> None:
        stated["name"] = NAMES["a script"]
        for part in stated["slices"]:
            part["name"], part["rule"] = called[part["name"]], NAMES["a picture"]

    resealed(own / "waves", rows=rename, members=members, root=root)
    run = (own / "runs" / "a").rename(own / "runs" / RUN.replace("/", "\u2215"))
    (run / "dataset.sha256").write_text(file_sha256(own / "waves" / "dataset.json"))
    workspace = Workspace(run, create=False)
    rows = [row for row in workspace.table("scores", Score) if row.method == "telea"]
    for number, name in enumerate(names):
        made = [replace(row, method=name) for row in rows]
        workspace.write_table("scores", f"score.devil.corrected.hostile{number}", made, Score)
    listening = Server([own])
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*OF_SLICES, "an address")])
def test_a_slice_that_would_be_a_path_or_more_than_words_is_refused(name: str, own: Path) -> None:
    def root(stated: dict[str, Any]) -> None:
        stated["slices"][0]["name"] = NAMES[name]

    resealed(own / "waves", root=root)
    with pytest.raises(VerifyError, match=r"the name of a slice is .* which cannot be a name") as told:
        frozen.load(own / "waves")
    assert str(told.value).isprintable()
    assert "0/waves" not in [thing.key for thing in Folders([own]).things()]


def _words(page: Any) -> str:
    return str(page.evaluate("document.body.innerText"))


def test_the_workbench_shows_them_as_words(browser: Any, shown: Server) -> None:
    key = next(one.key for one in shown.bench.things() if one.kind == "run" and "hostile" in one.key)
    status, data, _ = asked(shown, f"/api/set?{urlencode({'runs': key})}")
    assert status == 200, data
    tab = OpenPage(browser, f"http://127.0.0.1:{shown.server_port}/#{urlencode({'r': key})}")
    page = tab.page
    page.wait_for_function("() => document.body.dataset.drawn !== undefined && document.querySelector('tr[data-item]')")
    page.wait_for_selector("[data-leads] tbody tr th label")
    methods = page.locator("[data-leads] tbody tr th label").all_inner_texts()
    assert len(methods) == len(NAMES) + 2
    assert any(NAMES["a script"] in name for name in methods)
    assert any(NAMES["out of the folder"] in name for name in methods)
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(
        "() => document.querySelector('.pane canvas') || document.querySelector('[data-looknote]').textContent"
    )
    assert page.evaluate(TRACES) == NONE
    slices = page.locator("[data-bar] [name=slice] option").all_inner_texts()
    assert {name for name in OF_SLICES if any(NAMES[name] in one for one in slices)} == set(OF_SLICES)
    own = f"http://127.0.0.1:{shown.server_port}/"
    dataset_key = next(one.key for one in shown.bench.things() if one.kind == "dataset" and one.title == NAMES["a script"])
    other = OpenPage(browser, f"{own}#{urlencode({'d': dataset_key})}")
    other.page.wait_for_function("() => document.body.dataset.drawn !== undefined && document.querySelector('tr[data-item]')")
    assert other.page.evaluate(TRACES) == NONE
    assert other.page.title() == "inpaintbench view"
    for opened in (tab, other):
        assert [url for url in opened.requests if not url.startswith((own, "blob:", "data:"))] == []
        assert [one for one in opened.complaints if "404" not in one] == []  # a method of scores alone has no film
    other.context.close()
    tab.context.close()


def test_a_report_shows_them_as_words(browser: Any, tmp_path: Path) -> None:
    names = list(NAMES.values())
    slices = {f"{name}-{level}": [f"{source}{level}" for source in "abcdef"] for name in names[:4] for level in ("low", "high")}
    items = [f"{source}{level}" for level in ("low", "high") for source in "abcdef"]
    made = dataset(slices)
    rows = tuple({**dict(row), "source_uri": names[place % len(names)]} for place, row in enumerate(made.items))
    values = {name: dict.fromkeys(items, 20.0 + place) for place, name in enumerate(names)}
    write_report(
        tmp_path / "report", title=NAMES["a script"], dataset=replace(made, items=rows), scores=scores(values),
        protocol=CORRECTED, media=FlatMedia(),
    )  # fmt: skip
    tab = OpenPage(browser, (tmp_path / "report" / "report.html").as_uri())
    tab.page.wait_for_selector("h1")
    tab.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    tab.page.wait_for_timeout(500)
    assert tab.page.evaluate(TRACES) == [NAMES["a script"] in tab.page.title() and "broken" in tab.page.title(), "", 0, 0]
    assert NAMES["a picture"] in _words(tab.page).replace("\u200b", "").replace("\u00ad", "")
    assert tab.fetched(tmp_path / "report") == []
    assert tab.complaints == []
    assert {path.name for path in tmp_path.iterdir()} == {"report"}
    tab.context.close()
