"""What was fetched becomes footage like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from web_footage import HERE, clip_bytes, mixed_site, write_list
from web_server import Answer, WebServer

from inpaintbench.curation import footage
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.funnel.stages import licence_counts
from inpaintbench.curation.judging import stored_selection
from inpaintbench.curation.sources.base import Footage, located
from inpaintbench.curation.why import trail
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Clip, Download
from inpaintbench.wings.fetch.recheck import notice
from inpaintbench.wings.fetch.source import FetchedSource
from inpaintbench.wings.fetch.step import TABLE, fetch


def pieces(executor: LocalExecutor) -> list[Footage]:
    return list(FetchedSource(workspace=str(executor.workspace.path)).footage())


def test_only_what_was_obtained_is_footage(executor: LocalExecutor, tmp_path: Path) -> None:
    with WebServer() as server:
        constants = {"list": str(mixed_site(server, tmp_path))}
        fetch(executor, "urls", constants=constants, limits=replace(HERE, tries=1, most_bytes=1_000_000))
    one, two = pieces(executor)
    assert (one.licence, one.author, one.page_url) == ("CC-BY-2.0", "Ann, B.", "https://page.test/0")
    assert (one.origin, one.uri.partition("/")[0], one.known) == ("fetched", "urls", {"source.uploaded": 2018.0})
    assert one.content != two.content
    assert two.known == {"source.uploaded": 2018.0}


def test_sources_are_found_and_probed_where_they_lie(
    executor: LocalExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The catalogue is somebody else's; what matters here is that the steps can work with the leaf.
    monkeypatch.setitem(footage.SOURCES._own, "fetched", "inpaintbench.wings.fetch.source:FetchedSource")
    monkeypatch.setattr(footage.SOURCES, "_addresses", None)
    with WebServer() as server:
        url = server.say("/a b.mp4", Answer(clip_bytes(tmp_path, 1, frames=7)))
        path = write_list(tmp_path / "a.csv", f"{url.replace(' ', '%20')},CC0-1.0,A walk", columns="url,licence,title")
        server.answers["/a%20b.mp4"] = server.answers["/a b.mp4"]
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    leaf = FetchedSource(workspace=str(executor.workspace.path))
    found, outcome = footage.find(executor, leaf, constants={"workspace": str(executor.workspace.path)})
    (source,) = outcome.records
    assert source.blob is None
    assert (source.licence, source.origin, source.bytes) == ("CC0-1.0", "fetched", len(clip_bytes(tmp_path, 1, frames=7)))
    probed = footage.probe(executor, [source], located([source], found), [])
    assert {row.name: row.value for row in probed.records}["probe.frames"] == 7
    text = notice([source], executor.workspace.table(TABLE, Download))
    assert "* A walk (author not stated)" in text


def test_a_lost_file_is_refused(executor: LocalExecutor, tmp_path: Path) -> None:
    with WebServer() as server:
        path = write_list(tmp_path / "a.csv", server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1))), columns="url")
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    (piece,) = pieces(executor)
    leaf = FetchedSource(workspace=str(executor.workspace.path))
    Path(leaf.obtain(piece.payload, "")).unlink()
    with pytest.raises(Exception, match="fetch again"):
        leaf.obtain(piece.payload, "")


def test_what_is_asked_for_no_more_is_no_footage(executor: LocalExecutor, tmp_path: Path) -> None:
    with WebServer() as server:
        one, two, other = (
            server.say(f"/{name}.mp4", Answer(clip_bytes(tmp_path, place))) for place, name in enumerate(("one", "two", "other"))
        )
        path = write_list(tmp_path / "a.csv", f"{one},CC-BY-4.0", f"{two},CC0-1.0", columns="url,licence")
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
        more = write_list(tmp_path / "b.csv", f"{other},CC0-1.0", columns="url,licence")
        fetch(executor, "urls", constants={"list": str(more)}, limits=HERE, label="more")
        assert names_of(pieces(executor)) == ["one", "other", "two"]
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE, licences=["CC0"])
        assert names_of(pieces(executor)) == ["other", "two"]
    leaf = FetchedSource(workspace=str(executor.workspace.path), fetcher="urls")
    assert names_of(list(leaf.footage())) == ["two"]
    leaf = FetchedSource(workspace=str(executor.workspace.path), fetcher="urls", label="more")
    assert names_of(list(leaf.footage())) == ["other"]
    text = notice([], executor.workspace.table(TABLE, Download))
    assert "CC-BY-4.0" in text


def names_of(footage: list[Footage]) -> list[str]:
    return sorted(piece.uri.removeprefix("urls/").partition("-")[0] for piece in footage)


def test_of_equal_bytes_under_two_licences_one_row_counts_everywhere(executor: LocalExecutor, tmp_path: Path) -> None:
    with WebServer() as server:
        urls = [server.say(f"/{name}.mp4", Answer(clip_bytes(tmp_path, 1, frames=7))) for name in ("a", "b")]
        rows = [f"{urls[0]},CC0-1.0,Bob,3", f"{urls[1]},CC-BY-4.0,Ann,5"]
        path = write_list(tmp_path / "a.csv", *rows, columns="url,licence,author,views")
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    leaf = FetchedSource(workspace=str(executor.workspace.path))
    _, outcome = footage.find(executor, leaf, constants={"workspace": str(executor.workspace.path)})
    kept, doubles, _ = footage.distinct(outcome.records)
    assert [(row.licence, row.author) for row in kept] == [("CC0-1.0", "Bob")]
    assert doubles[0].reason == f"has the same bytes as {kept[0].uri}, which is under CC0-1.0, not CC-BY-4.0"
    clip = Clip("c", kept[0].source_id, 0, 7, 25.0, 64, 48, 7, "b", "y", "r", None, None)
    executor.workspace.write_table("clips", "cut", [clip], Clip)
    facts = Facts.of_workspace(executor.workspace)
    told = [facts.of(f"source.{name}").texts.to_pylist() for name in ("licence", "author")]
    assert told == [["CC0-1.0"], ["Bob"]]
    assert facts.of("source.views").numbers.tolist() == [3.0]
    found = trail(executor.workspace, clip)
    assert found.source is not None
    assert found.download is not None
    assert (found.source.licence, found.download.licence, found.download.author) == ("CC0-1.0", "CC0-1.0", "Bob")
    counted = licence_counts(executor.workspace, stored_selection(executor.workspace, facts))
    assert [(one.licence, one.sources, one.clips) for one in counted] == [("CC0-1.0", 1, 1)]


def test_where_nothing_was_fetched_there_is_no_footage(executor: LocalExecutor, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing was fetched"):
        pieces(executor)
    with pytest.raises(WorkspaceError, match="not a workspace"):
        list(FetchedSource(workspace=str(tmp_path / "elsewhere")).footage())
