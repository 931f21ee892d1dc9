"""Licences are asked for again, and what they were stays on record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import tenacity.nap
from web_footage import HERE, clip_bytes, write_list
from web_server import Answer, WebServer

from inpaintbench.curation.facts import CHECKS, LicenceCheck, latest_checks, uri_of
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.wings.fetch.recheck import recheck
from inpaintbench.wings.fetch.step import fetch, listings, rows_of


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    class Clock:
        sleep = staticmethod(lambda seconds: None)

    monkeypatch.setattr(tenacity.nap, "time", Clock)
    with WebServer() as running:
        yield running


def statuses(checks: list[LicenceCheck]) -> dict[str, str]:
    return {check.name.partition("-")[0]: check.status for check in checks}


def test_upstream_is_asked_about_everything_obtained(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    names = ("stays", "goes", "closes", "fails", "never")
    for place, name in enumerate(names):
        server.say(f"/{name}.mp4", Answer(clip_bytes(tmp_path, place)) if name != "never" else Answer(status=404))
    rows = [f"{server.url(f'/{name}.mp4')},CC0-1.0" for name in names]
    constants = {"list": str(write_list(tmp_path / "a.csv", *rows, columns="url,licence")), "allow_private": True}
    fetch(executor, "urls", constants=constants, limits=HERE)
    proof = rows_of(executor.workspace, "urls")
    (listing,) = listings(executor.workspace)
    assert (listing.leaf, listing.label, listing.constants) == ("urls", "", constants)
    for name, status in (("goes", 410), ("closes", 403), ("fails", 500)):
        server.say(f"/{name}.mp4", Answer(status=status))
    checks = recheck(executor, "urls", constants=listing.constants, stamp="first")
    assert statuses(checks) == {"stays": "same", "goes": "gone", "closes": "refused", "fails": "failed"}
    assert executor.workspace.table(CHECKS, LicenceCheck) != []
    gone = next(check for check in checks if check.status == "gone")
    assert (gone.licence_then, gone.licence_now) == ("CC0-1.0", None)
    assert rows_of(executor.workspace, "urls") == proof
    server.seen.clear()
    server.say("/fails.mp4", Answer(b"x"))
    assert statuses(recheck(executor, "urls", constants=constants, stamp="first"))["fails"] == "same"
    assert {request.path for request in server.seen} == {"/fails.mp4"}
    server.seen.clear()
    recheck(executor, "urls", constants=constants, stamp="second")
    assert len({request.path for request in server.seen}) == 4


def test_whole_addresses_come_from_the_list_again(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1)))
    path = write_list(tmp_path / "a.csv", *(server.url(f"/a.mp4?id={number}") for number in (1, 2)), columns="url")
    constants = {"list": str(path), "allow_private": True}
    fetch(executor, "urls", constants=constants, limits=HERE)
    write_list(path, server.url("/a.mp4?id=1"), columns="url")
    server.seen.clear()
    checks = recheck(executor, "urls", constants=constants, stamp="now")
    assert sorted(check.status for check in checks) == ["same", "unlisted"]
    assert [request.path for request in server.seen] == ["/a.mp4?id=1"]


def test_a_changed_licence_is_told(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    url = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1))) + "?id=1"
    path = write_list(tmp_path / "a.csv", f"{url},CC0-1.0", columns="url,licence")
    constants = {"list": str(path), "allow_private": True}
    fetch(executor, "urls", constants=constants, limits=HERE)
    write_list(path, f"{url},CC-BY-ND-4.0", columns="url,licence")
    (check,) = recheck(executor, "urls", constants=constants, stamp="now")
    assert (check.status, check.licence_then, check.licence_now) == ("changed", "CC0-1.0", "CC-BY-ND-4.0")
    (row,) = rows_of(executor.workspace, "urls")
    assert row.licence == "CC0-1.0"


@pytest.mark.parametrize("query", ["", "?id=1"])
def test_every_check_stays_on_record(executor: LocalExecutor, server: WebServer, tmp_path: Path, query: str) -> None:
    url = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1))) + query
    path = write_list(tmp_path / "a.csv", f"{url},CC0-1.0", columns="url,licence")
    constants = {"list": str(path), "allow_private": True}
    fetch(executor, "urls", constants=constants, limits=HERE)
    (row,) = rows_of(executor.workspace, "urls")
    uri = uri_of("urls", row.name)
    assert latest_checks(executor.workspace) == {}
    recheck(executor, "urls", constants=constants, stamp="first")
    assert latest_checks(executor.workspace)[uri].words is None
    write_list(path, f"{url},CC-BY-ND-4.0", columns="url,licence")
    for _ in range(2):
        recheck(executor, "urls", constants=constants, stamp="second")
    assert latest_checks(executor.workspace)[uri].words == "changed to CC-BY-ND-4.0"
    server.say("/a.mp4", Answer(status=500))
    recheck(executor, "urls", constants=constants, stamp="third")
    assert latest_checks(executor.workspace)[uri].status == "changed"
    server.say("/a.mp4", Answer(status=410))
    recheck(executor, "urls", constants=constants, stamp="fourth")
    assert latest_checks(executor.workspace)[uri].words == "gone"
    kept = [check.status for check in executor.workspace.table(CHECKS, LicenceCheck)]
    assert kept == ["same", "changed", "failed", "gone"]
