"""Workspaces at addresses: a folder and an address hold the same, whoever is killed, shares it or comes too late."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import pytest
from built import check_same_bytes
from footage import build_command, contents, write_sources
from object_server import KEY, SECRET, ObjectServer, object_server
from program import run_here

from inpaintbench import frozen, ledgers, mirrors, storage
from inpaintbench.cli import console
from inpaintbench.curation import footage
from inpaintbench.errors import InputError, NetworkError, UsageError, VerifyError, WorkspaceError
from inpaintbench.executors.base import Outcome, Step, Task
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import write_atomically
from inpaintbench.storage import Address
from inpaintbench.types import Attribute
from inpaintbench.workspace import Blobs, Shard, Workspace

WHERE = "s3://bucket/my ws"
STEP = Step("behave", "1", "attributes", Attribute, "chores:behave", time_limit_seconds=30)
NAMING = Step("name", "1", "attributes", Attribute, "chores:name", time_limit_seconds=30)
READING = Step("reread", "1", "attributes", Attribute, "chores:reread", time_limit_seconds=30)
ROWS = [Attribute("a", "share", 0.25, None, "measured", "1")]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.syspath_prepend(Path(__file__).parent)  # of the step
        monkeypatch.setattr(storage, "_FIRST_WAIT_SECONDS", 0.0)
        monkeypatch.setattr(mirrors, "_FRESH_SECONDS", -1.0)  # every look is a new one
        monkeypatch.setattr(mirrors, "_OUTAGE_SECONDS", 0.0)  # none is waited for
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        on_machine(tmp_path, monkeypatch, "one")
        yield made


def on_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Go on as another machine would, which has a cache of its own."""
    monkeypatch.setenv(storage.CACHE, str(tmp_path / name))


def tasks_of(*names: str, **payload: str) -> list[Task]:
    return [Task(name, "", {"name": name, **payload}) for name in names]


def append(workspace: Workspace, key: str) -> None:
    ledger = workspace.ledger("step")
    ledger.append({"key": key, "status": "done"})
    ledger.close()


def listings(server: ObjectServer) -> list[str]:
    return [path for method, path in server.asked if method == "GET" and "list-type" in path]


def test_a_build_from_and_into_a_faulty_bucket_is_that_of_folders(benchmark: Path, tmp_path: Path, server: ObjectServer) -> None:
    fsspec.filesystem("s3").put(f"{benchmark.parent / 'sources'}/", "bucket/my films/", recursive=True)
    (tmp_path / "labels.csv").write_bytes((benchmark.parent / "labels.csv").read_bytes())
    command, log = build_command(tmp_path, "workspace", workers=2), tmp_path / "log"
    command[command.index("--sources") + 1], command[command.index("--out") + 1] = "s3://bucket/my films", WHERE
    places = {storage.CACHE: str(tmp_path / "cache"), "INPAINTBENCH_LOG": str(log), "HOME": str(tmp_path)}
    server.every, server.ahead = 5, 3600
    server.asked.clear()
    server.sent = 0
    made = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **places})
    assert made.returncode == 0, made.stderr
    assert f"Dataset: {WHERE}/exports/devil" in made.stdout
    assert str(tmp_path / "cache") not in made.stdout
    [mirror] = (tmp_path / "cache" / "workspaces").iterdir()
    check_same_bytes(benchmark, mirror)
    assert server.faults > 10
    assert len(server.asked) < 12 * len(frozen.load(benchmark / "exports" / "devil").items)
    assert server.sent < 2 * sum(path.stat().st_size for path in (benchmark.parent / "sources").iterdir())
    # As the program counts them: without those that drivers try again by themselves.
    requests = int(re.search(r"What this run asked of object storage\n[^│]*│ ([\d,]+)", made.stdout)[1].replace(",", ""))
    assert 0.7 * len(server.asked) < requests <= len(server.asked)
    assert log.stat().st_size > 0
    written = [made.stdout.encode(), made.stderr.encode(), *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())]
    assert not [text for text in written if KEY.encode() in text or SECRET.encode() in text]
    # Another machine brings what it needs, lists nothing, and does nothing again; any machine has the dataset.
    server.every = 0
    server.asked.clear()
    told = run_here("curation", "measure", WHERE, "--attribute", "cut_score", "--workers", "1")
    assert told.returncode == 0, told.stderr
    assert (len(server.asked) <= 30, listings(server)) == (True, [])
    told = run_here("export", "verify", f"{WHERE}/exports/devil")
    assert told.returncode == 0, told.stderr
    opened = Workspace(WHERE, create=False)
    mirrors.bring_exports(opened.path)
    own, theirs = contents(benchmark), contents(opened.path)
    assert {name for name in own if not name.startswith("blobs")} == {name for name in theirs if not name.startswith("blobs")}
    assert all(own[name] == sha256 for name, sha256 in theirs.items())


@pytest.mark.parametrize("command", [("build", "devil"), ("curation", "clips")], ids=" ".join)
def test_a_build_that_is_refused_writes_nothing_to_the_bucket(command: tuple[str, str], server: ObjectServer) -> None:
    system = fsspec.filesystem("s3")
    system.pipe_file("bucket/other/notes.txt", b"no film")
    system.pipe_file("bucket/films/a.mp4", b"film")
    with Workspace("s3://bucket/reinpaint").locked():
        (Workspace("s3://bucket/reinpaint").path / "recipe.json").write_text('{"recipe": "reinpaint"}')
    server.asked.clear()
    for sources, out, more, sentence in (
        ("none", "ws", (), "there is nothing at s3://bucket/none"),
        ("other", "ws", (), "no clips: the source folder holds no video files"),
        ("films", "ws", ("--splitter", "samples,length_seconds=5", "--cut-bars"), "the splitter 'samples' reads no film whole"),
        ("films", "reinpaint", (), "workspace 's3://bucket/reinpaint' holds a 'reinpaint' benchmark"),
    ):
        told = run_here(*command, "--sources", f"s3://bucket/{sources}", "--out", f"s3://bucket/{out}", *more)
        assert (told.returncode > 0, sentence in told.stderr) == (True, True), told.stderr
    assert {method for method, _ in server.asked} <= {"GET", "HEAD"}


def told_traffic(stdout: str) -> list[float]:
    """Requests, MB in and MB out of the table in what a command printed."""
    found = re.search(r"object storage\n[^│]*│ ([\d,]+) +│ ([\d.]+) MB +│ ([\d.]+) MB", stdout)
    assert found, stdout
    return [float(text.replace(",", "")) for text in found.groups()]


@pytest.mark.long
def test_a_plan_tells_what_a_build_will_ask_and_leaves_nothing(
    benchmark: Path, tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "_DUE_SECONDS", 3600.0)  # a slow machine commits more often
    fsspec.filesystem("s3").put(f"{benchmark.parent / 'sources'}/", "bucket/films/", recursive=True)
    server.asked.clear()
    words = ("build", "devil", "--sources", "s3://bucket/films", "--out", "s3://bucket/planned", "--size", "128x80", "--plan")
    told = run_here(*words, "--per-slice", "2")
    assert told.returncode == 0, told.stderr
    assert "What a build from 6 films into a bucket asks of object storage" in told.stdout
    # The listing, twice, and three films; what a build writes stays here.
    assert ({method for method, _ in server.asked} <= {"GET", "HEAD"}, len(server.asked) <= 16) == (True, True)
    planned = told_traffic(told.stdout)
    assert not [path for path in fsspec.filesystem("memory").find("/") if "inpaintbench-pilot" in path]
    assert not [path for path in (tmp_path / "one").rglob("*") if path.is_file() and path.suffix == ".mp4"]
    assert run_here(*words, "--plan-deviation", "2").returncode == 2
    # What is built is not counted again.
    made = run_here(*words[:-1], "--per-slice", "2", "--workers", "1")
    assert made.returncode == 0, made.stderr
    assert planned == pytest.approx(told_traffic(made.stdout), rel=0.3)
    again = run_here(*words, "--per-slice", "2")
    assert "6 films of this recipe in the workspace ask for nothing" in again.stdout, again.stderr
    assert "│ 0.00 MB" in again.stdout
    fsspec.filesystem("s3").pipe_file(
        "bucket/films/new.mp4", (write_sources(tmp_path / "more", count=7) / "pan 6.mp4").read_bytes()
    )
    again = run_here(*words, "--per-slice", "2")
    assert "What a build from 1 new film into a bucket" in again.stdout, again.stderr


@pytest.mark.long
def test_a_plan_counts_of_long_films_what_is_read(tmp_path: Path, server: ObjectServer) -> None:
    films = sorted(write_sources(tmp_path / "films", count=4, times=30).iterdir())
    for film in films:
        fsspec.filesystem("s3").pipe_file(f"bucket/films/{film.name}", film.read_bytes(), ChecksumAlgorithm="SHA256")
    whole = sum(film.stat().st_size for film in films)
    samples = ("--splitter", "samples,length_seconds=2,stride_seconds=40", "--size", "128x80", "--per-slice", "2")
    words = ("build", "devil", "--sources", "s3://bucket/films", "--out", "s3://bucket/planned", *samples)
    told = run_here(*words, "--plan")
    assert told.returncode == 0, told.stderr
    bytes_in = 1e6 * float(re.search(r"│ [\d,]+ +│ ([\d.]+) MB", told.stdout)[1])
    made = run_here(*words, "--workers", "1")
    assert made.returncode == 0, made.stderr
    assert bytes_in == pytest.approx(1e6 * float(re.search(r"│ [\d,]+ +│ ([\d.]+) MB", made.stdout)[1]), rel=0.2)
    assert bytes_in < 0.3 * whole


@pytest.mark.long
def test_a_plan_counts_films_that_were_found_and_not_cut_or_replaced_by_others_as_new(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    films, system = write_sources(tmp_path / "films", count=3), fsspec.filesystem("s3")
    system.put(f"{films}/", "bucket/films/", recursive=True)
    words = ("build", "devil", "--sources", "s3://bucket/films", "--out", "s3://bucket/planned", "--size", "128x80")

    def killed(*_: Any, **__: Any) -> None:
        raise NetworkError("the power went")

    def planned() -> str:
        told = run_here(*words, "--plan")
        return told.stdout + told.stderr

    with monkeypatch.context() as patch:
        patch.setattr(footage, "probe", killed)
        patch.setattr(footage, "probe_and_cut", killed)
        assert "the power went" in run_here(*words, "--workers", "0").stderr
    assert "What a build from 3 films into a bucket" in planned()
    assert run_here(*words, "--workers", "0").returncode == 0
    assert "3 films of this recipe in the workspace ask for nothing" in planned()
    other = bytearray((films / "pan 0.mp4").read_bytes())
    other[-1] ^= 1
    system.pipe_file("bucket/films/pan 0.mp4", bytes(other))
    assert "What a build from 1 new film into a bucket" in planned()


def test_memory_holds_a_workspace_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_machine(tmp_path, monkeypatch, "one")
    sources = write_sources(tmp_path / "films", count=2)
    told = run_here("curation", "clips", "--sources", sources, "--out", "memory://ws", "--size", "128x80", "--workers", "2")
    assert "memory:// is of one process alone: --workers 0" in told.stderr
    words = ("curation", "clips", "--sources", sources, "--size", "128x80", "--workers", "0")
    for out in ("memory://ws", str(tmp_path / "own")):
        told = run_here(*words, "--out", out)
        assert (told.returncode, f"from 2 sources in {out}" in told.stdout) == (0, True), told.stderr
    on_machine(tmp_path, monkeypatch, "two")
    opened = Workspace("memory://ws", create=False)
    names = [name for name in contents(tmp_path / "own") if name.startswith("blobs")]
    assert names
    for name in names:
        opened.blobs.proved(Path(name).name)
    assert contents(opened.path) == contents(tmp_path / "own")


def test_a_folder_that_is_no_workspace_is_told_and_kinds_of_addresses(server: ObjectServer) -> None:
    with pytest.raises(WorkspaceError, match="is not a workspace"):
        Workspace(WHERE, create=False)
    with pytest.raises(UsageError, match="of no kind known here"):
        Workspace("ftp://host/ws")


def test_tables_logs_and_blobs_come_to_another_machine(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(WHERE)
    with workspace.locked():
        workspace.write_table("attributes", "a", ROWS, Attribute)
        workspace.write_table("attributes", "b", ROWS, Attribute)
        name, _ = workspace.blobs.put(".txt", lambda path: path.write_text("blob"))
    with workspace.locked():
        workspace.write_table("attributes", "b", [], Attribute)
    on_machine(tmp_path, monkeypatch, "two")
    server.asked.clear()
    opened = Workspace(WHERE, create=False)
    assert (opened.steps("attributes"), opened.table("attributes", Attribute)) == (["a"], ROWS)
    assert opened.blobs.has(name)
    assert opened.blobs.proved(name).read_text() == "blob"
    assert Blobs(WHERE).path(name) == opened.blobs.path(name)
    assert listings(server) == []
    # What was brought is not brought again.
    server.asked.clear()
    Workspace(WHERE, create=False)
    assert [method for method, _ in server.asked] == ["GET", "GET"]
    # And what is deleted there is told.
    opened.blobs.path(name).unlink()
    fsspec.filesystem("s3").rm_file(f"bucket/my ws/blobs/{name[:2]}/{name}")
    with pytest.raises(VerifyError, match="is missing"):
        opened.blobs.proved(name)
    # Another workspace under the same name by now.
    fsspec.filesystem("s3").rm("bucket/my ws", recursive=True)
    with Workspace(WHERE).locked():
        pass
    assert Workspace(WHERE, create=False).steps("attributes") == []


def test_a_pack_that_was_changed_is_named(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (mirrors._LARGE, 1):
        monkeypatch.setattr(mirrors, "_LARGE", size)
        workspace = Workspace(f"{WHERE}{size}")
        with workspace.locked():
            workspace.write_table("attributes", "a", ROWS, Attribute)
        system = fsspec.filesystem("s3")
        for path in system.find(f"bucket/my ws{size}/packs"):
            system.pipe_file(path, b"x" * system.size(path))
        on_machine(tmp_path, monkeypatch, f"two {size}")
        with pytest.raises(VerifyError, match=r"/packs/[0-9a-f]{64} is damaged"):
            Workspace(f"{WHERE}{size}", create=False)


def test_logs_are_brought_by_pieces_that_stay_few(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "_DUE_SECONDS", 0.0)
    workspace = Workspace(WHERE)
    with LocalExecutor(workspace, workers=0) as executor:
        server.asked.clear()
        executor.run(STEP, tasks_of(*(f"task {place}" for place in range(40))))
        state = json.loads((workspace.path / ".state").read_text())
        [pieces] = (pieces for name, pieces in state["head"]["files"].items() if name == "ledger/behave.jsonl")
        log = (workspace.path / "ledger" / "behave.jsonl").read_bytes()
        assert (sum(count for _, _, count in pieces), len(pieces) <= 7) == (len(log), True)
        # Each task: its blob, a pack and a head.
        assert len(server.asked) <= 3 * 40
        assert listings(server) == []
        on_machine(tmp_path, monkeypatch, "two")
        opened = Workspace(WHERE, create=False)
        assert (opened.path / "ledger" / "behave.jsonl").read_bytes() == log
        on_machine(tmp_path, monkeypatch, "one")
    # At its end all is in few packs.
    on_machine(tmp_path, monkeypatch, "three")
    server.asked.clear()
    opened = Workspace(WHERE, create=False)
    assert len(server.asked) <= 20
    assert len(opened.table("attributes", Attribute)) == 40


def test_a_finished_step_is_found_finished_in_few_requests_and_no_listing(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a million rows, whose ledger is parts, each a pack: 9 requests where they were made, 15 elsewhere, were measured."""
    monkeypatch.setattr(ledgers, "LOG_BYTES", 4000)
    monkeypatch.setattr(mirrors, "_LARGE", 1000)
    names = [f"task {place}" for place in range(60)]
    for machine, most in (("one", None), ("one", None), ("one", 10), ("two", 30), ("two", 10)):
        on_machine(tmp_path, monkeypatch, machine)
        server.asked.clear()
        with LocalExecutor(Workspace(WHERE), workers=0) as executor:
            outcome = executor.run(STEP, tasks_of(*names))
        assert len(outcome.records) == len(names)
        assert (most is None or len(server.asked) <= most, listings(server)) == (True, [])
    assert len(list((executor.workspace.path / "ledger" / "behave").glob("*.parquet"))) > 0


def test_a_killed_run_loses_nothing_on_its_machine_and_little_on_others(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(WHERE)
    held = workspace.locked()
    held.__enter__()
    append(workspace, "first")
    workspace.commit_if_due()
    append(workspace, "second")
    # As kill -9 leaves it: nothing ends the block, and the system lets go of the lock.
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "one", killed)
    on_machine(tmp_path, monkeypatch, "two")
    other = Workspace(WHERE)
    with pytest.raises(WorkspaceError, match=r"is in use by another run, on .+; if that was killed, it is free in 1[12]\d s"):
        other.locked().__enter__()
    assert list(other.ledger("step").read()) == ["first"]
    on_machine(tmp_path, monkeypatch, "killed")
    monkeypatch.setattr(mirrors, "_KNOWN", {})
    again = Workspace(WHERE)
    with again.locked():
        assert list(again.ledger("step").read()) == ["first", "second"]
    on_machine(tmp_path, monkeypatch, "two")
    with Workspace(WHERE).locked():
        assert list(other.ledger("step").read()) == ["first", "second"]
    # The first run, which only slept, is told.
    append(workspace, "third")
    with pytest.raises(WorkspaceError, match="another run has taken the workspace"):
        held.__exit__(None, None, None)
    assert list(Workspace(WHERE, create=False).ledger("step").read()) == ["first", "second"]


def test_an_outage_that_passes_is_waited_out(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that began with a head that was written and its answer lost, and one when all is done."""
    monkeypatch.setattr(mirrors, "_OUTAGE_SECONDS", 60.0)
    monkeypatch.setattr(mirrors, "_DUE_SECONDS", 0.0)
    server.kinds, lost = ("lost",), []
    workspace, write = Workspace(WHERE), mirrors.write

    def unheard(address: Address, *rest: Any, **more: Any) -> bool:
        written = write(address, *rest, **more)
        if "/heads/" in address.path:
            lost.append(address)
            raise NetworkError("the answer was lost")
        return written

    def until_it_is_over() -> None:
        while server.faults < 10:
            time.sleep(0.01)
        server.every = 0

    with workspace.locked():
        marked = workspace.path / "unfinished" / "step.parquet"
        write_atomically(marked, b"to be done")
        workspace.commit_if_due()
        marked.unlink()
        append(workspace, "first")
        with monkeypatch.context() as patch:
            patch.setattr(mirrors, "write", unheard)
            workspace.commit_if_due()
        append(workspace, "second")
        server.every = 1
        workspace.commit_if_due()
        over = Thread(target=until_it_is_over)
        over.start()
    over.join()
    assert (len(lost), server.faults >= 10) == (1, True)
    on_machine(tmp_path, monkeypatch, "two")
    opened = Workspace(WHERE, create=False)
    assert list(opened.ledger("step").read()) == ["first", "second"]
    assert not (opened.path / "unfinished" / "step.parquet").exists()


@pytest.mark.parametrize("first", [None, InputError, ValueError])
def test_an_outage_that_lasts_is_told_after_what_came_first_and_loses_nothing(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: type[Exception] | None
) -> None:
    workspace = Workspace(WHERE)

    def run() -> None:
        with workspace.locked():
            append(workspace, "first")
            server.every, server.kinds = 1, ("lost",)
            if first:
                raise first("the film is gone")
            workspace.commit_if_due()

    with pytest.raises(first or NetworkError) as error:
        run()
    told = str(error.value)
    assert told.startswith("the film is gone; " if first else f"{WHERE}/packs/")
    assert (told.count("could not be reached"), told.count("what was done is kept on this machine")) == (1, 1)
    server.every = 0
    with Workspace(WHERE).locked():
        pass
    on_machine(tmp_path, monkeypatch, "two")
    assert list(Workspace(WHERE, create=False).ledger("step").read()) == ["first"]


def test_a_lease_is_old_by_the_servers_clock(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Workspace(WHERE).locked()
    held.__enter__()
    on_machine(tmp_path, monkeypatch, "two")
    monkeypatch.setattr("time.time", lambda: 4e9)  # this machine's clock goes as it likes
    with pytest.raises(WorkspaceError, match="is in use"):
        Workspace(WHERE).locked().__enter__()
    monkeypatch.setattr(mirrors, "_EXPIRES_SECONDS", -1.0)
    with Workspace(WHERE).locked():
        pass
    with pytest.raises(WorkspaceError, match="another run has taken"):
        held.__exit__(None, None, None)


def test_shards_write_beside_each_other_and_a_whole_run_beside_none(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"task {place}" for place in range(8)]
    own = Workspace(tmp_path / "own")
    with LocalExecutor(own, workers=0) as executor:
        executor.run(STEP, tasks_of(*names))
    first, second = (Workspace(WHERE, shard=Shard(number, 2)) for number in (1, 2))
    with LocalExecutor(first, workers=0) as one, LocalExecutor(second, workers=0) as other:
        for executor in (one, other):
            executor.run(STEP, tasks_of(*filter(executor.workspace.takes, names)))
        with pytest.raises(WorkspaceError, match="is in use"):
            Workspace(WHERE).locked().__enter__()
        on_machine(tmp_path, monkeypatch, "two")
        with pytest.raises(WorkspaceError, match="is in use"):
            Workspace(WHERE, shard=Shard(1, 2)).locked().__enter__()
    on_machine(tmp_path, monkeypatch, "three")
    marks = tmp_path / "marks"
    marks.mkdir()
    whole = Workspace(WHERE)
    with LocalExecutor(whole, workers=0) as executor:
        executor.run(STEP, tasks_of(*names, marks=str(marks)))
    assert list(marks.iterdir()) == []
    assert whole.table("attributes", Attribute) == own.table("attributes", Attribute)


@pytest.mark.parametrize("lost", ["missing", "damaged"])
@pytest.mark.parametrize("found", ["in a step", "after it"])
def test_blobs_that_were_lost_there_are_made_again_on_whatever_machine(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str, found: str
) -> None:
    def ran(machine: str, step: Step, tasks: list[Task], *, looks: str = "") -> Outcome:
        on_machine(tmp_path, monkeypatch, machine)
        server.asked.clear()
        with LocalExecutor(Workspace(WHERE), workers=0) as executor:
            outcome = executor.run(step, tasks)
            if looks:  # as what makes something of a step's rows does
                executor.workspace.blobs.proved(looks)
        return outcome

    def sent() -> set[str]:
        return {
            path.partition("?")[0].rpartition("/")[2] for method, path in server.asked if method == "PUT" and "/blobs/" in path
        }

    made, system = tasks_of("a", "b", "c"), fsspec.filesystem("s3")
    gone = [row.blob for row in ran("one", STEP, made).records][: 2 if lost == "missing" else 1]
    for name in gone:
        at = f"bucket/my ws/blobs/{name[:2]}/{name}"
        system.rm_file(at) if lost == "missing" else system.pipe_file(at, b"other")
    reading = [Task(gone[0], "", {"blob": gone[0]})]
    if found == "in a step":
        assert lost in ran("two", READING, reading).rejected[0].reason
    else:
        with pytest.raises(VerifyError, match=f"{lost}.*; run the command"):
            ran("two", STEP, made, looks=gone[0])
    # What has nothing to do with them forgets nothing, and neither does what only names them.
    ran("three", READING, [])
    ran("three", NAMING, [Task("naming", "", {"blob": gone[0]})])
    ran("four", STEP, made)
    assert sent() == set(gone)
    assert len(ran("five", READING, reading).records) == 1
    assert listings(server) == []


def test_a_mirror_is_bounded_and_what_left_it_comes_again(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(WHERE)
    with workspace.locked():
        old, new = (workspace.blobs.put(".txt", lambda path, text=text: path.write_text(text))[0] for text in ("old", "new"))
    os.utime(workspace.blobs.path(old), (1, 1))
    monkeypatch.setenv(storage.CACHE_SIZE, "1B")
    Workspace(WHERE, create=False)
    there = {path.name for path in workspace.path.glob("blobs/*/*")}
    assert there == {new}
    assert workspace.blobs.proved(old).read_text() == "old"


def test_the_root_of_a_dataset_is_led_by_the_head_whoever_is_killed_between_them(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, write = "bucket/my ws/exports/devil/dataset.json", mirrors.write
    for said in ("one", "two"):
        on_machine(tmp_path, monkeypatch, said)
        workspace = Workspace(WHERE)

        def killed(address: Address, *rest: Any, **more: Any) -> bool:
            if address.path == at:
                raise NetworkError("the power went")
            return write(address, *rest, **more)

        monkeypatch.setattr(mirrors, "write", killed)
        root = workspace.path / "exports" / "devil" / "dataset.json"
        root.parent.mkdir(parents=True)
        root.write_text(said)
        with pytest.raises(NetworkError, match="the power went"), workspace.locked():
            pass
        monkeypatch.setattr(mirrors, "write", write)
        monkeypatch.setattr(mirrors, "_EXPIRES_SECONDS", -1.0)
        # Nobody sees the one without the other, but for a dataset that is not there yet.
        assert fsspec.filesystem("s3").exists(at) == (said == "two")
        on_machine(tmp_path, monkeypatch, f"after {said}")
        with Workspace(WHERE).locked():
            pass
        assert fsspec.filesystem("s3").cat_file(at) == said.encode()
        server.asked.clear()
        with Workspace(WHERE).locked():
            pass
        assert not [path for _, path in server.asked if "exports" in path]


@pytest.mark.parametrize("looks", [True, False])
def test_a_dataset_that_is_again_what_it_was_once_is_so_at_its_address(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: bool
) -> None:
    for machine, said in (("a", "one"), ("b", "two"), ("a", "one")):
        on_machine(tmp_path, monkeypatch, machine)
        workspace = Workspace(WHERE)
        root = workspace.path / "exports" / "devil" / "dataset.json"
        if looks:
            mirrors.bring_exports(workspace.path)
        with workspace.locked():
            root.parent.mkdir(parents=True, exist_ok=True)
            root.write_text(said)
        assert fsspec.filesystem("s3").cat_file("bucket/my ws/exports/devil/dataset.json") == said.encode()


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_dataset_that_was_only_built_again_or_brought_is_no_newer_than_what_others_sent(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    def there() -> bytes:
        return fsspec.filesystem("s3").cat_file("bucket/my ws/exports/devil/dataset.json")

    def build(machine: str, said: str) -> Path:
        on_machine(tmp_path, monkeypatch, machine)
        workspace = Workspace(WHERE)
        root = workspace.path / "exports" / "devil" / "dataset.json"
        with workspace.locked():
            write_atomically(root, said.encode())
            os.utime(root, ns=(0, next(moments)))
        assert there() == said.encode()
        return workspace.path

    def killed(path: Path, data: bytes) -> None:
        if path.parent.name == mirrors._SENT:
            raise KeyboardInterrupt
        write_atomically(path, data)

    moments = iter(range(1, 9))
    build("a", "one")
    if is_killed:  # once what another sent is here
        build("b", "one of b")
        on_machine(tmp_path, monkeypatch, "a")
        mirror = Workspace(WHERE).path
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(mirrors, "write_atomically", killed)
            mirrors.bring_exports(mirror)
        assert (mirror / "exports" / "devil" / "dataset.json").read_text() == "one of b"
    else:
        build("a", "one")
    build("b", "two")
    on_machine(tmp_path, monkeypatch, "a")
    with Workspace(WHERE).locked():
        pass
    assert there() == b"two"
    mirrors.bring_exports(Workspace(WHERE).path)
    assert (Workspace(WHERE).path / "exports" / "devil" / "dataset.json").read_text() == "two"


@pytest.mark.parametrize("is_heard", [True, False], ids=["killed before it noted its head", "never heard that it was written"])
def test_a_head_that_was_not_noted_here_is_known_again_as_ones_own(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_heard: bool
) -> None:
    def export(machine: str, said: str) -> None:
        on_machine(tmp_path, monkeypatch, machine)
        workspace = Workspace(WHERE)
        with workspace.locked():
            write_atomically(workspace.path / "exports" / "devil" / "dataset.json", said.encode())
            append(workspace, said)

    def killed(address: Address, *rest: Any, **more: Any) -> bool:
        written = write(address, *rest, **more)
        if "/heads/" in address.path and fsspec.filesystem("s3").exists(f"bucket/my ws/exports/devil/objects/{root}"):
            raise KeyboardInterrupt if is_heard else NetworkError("the answer was lost")
        return written

    root, write = hashlib.sha256(b"one").hexdigest(), mirrors.write
    monkeypatch.setattr(mirrors, "write", killed)
    with pytest.raises((KeyboardInterrupt, NetworkError)):
        export("a", "one")
    monkeypatch.setattr(mirrors, "write", write)
    monkeypatch.setattr(mirrors, "_EXPIRES_SECONDS", -1.0)
    export("b", "two")
    on_machine(tmp_path, monkeypatch, "a")
    monkeypatch.setattr(mirrors, "_KNOWN", {})
    again = Workspace(WHERE)
    with again.locked():
        assert list(again.ledger("step").read()) == ["one", "two"]
    assert fsspec.filesystem("s3").cat_file("bucket/my ws/exports/devil/dataset.json") == b"two"
    assert not list(again.path.glob(".next"))


OUT = "../../stolen"
PIECES = [["0" * 64, 0, 1]]
STRANGE_FILES = {
    "a way out": {OUT: PIECES},
    "a path of the machine": {"/tmp/stolen": PIECES},
    "what a mirror is of": {".address": PIECES},
    "a blob": {"blobs/aa/x": PIECES},
    "no pack": {"tables/a.parquet": [["../x", 0, 1]]},
    "pieces before the beginning": {"tables/a.parquet": [["0" * 64, -1, 1]]},
    "no pieces": {"tables/a.parquet": 1},
}


@pytest.mark.parametrize("strange", STRANGE_FILES)
def test_a_strangers_bucket_names_no_file_of_this_machine(server: ObjectServer, tmp_path: Path, strange: str) -> None:
    head = {"format": 1, "holders": {}, "files": STRANGE_FILES[strange]}
    fsspec.filesystem("s3").pipe_file("bucket/theirs/heads/1.json", json.dumps(head).encode())
    with pytest.raises(WorkspaceError, match="is damaged"):
        Workspace("s3://bucket/theirs", create=False)
    assert not list(tmp_path.rglob("stolen"))


def test_a_strangers_dataset_names_no_file_of_this_machine(server: ObjectServer, tmp_path: Path) -> None:
    workspace = Workspace(WHERE)
    (workspace.path / "published").mkdir()
    (workspace.path / "published" / "x.json").write_text(json.dumps({"dataset.json": "0" * 64, OUT: "1" * 64}))
    server.asked.clear()
    with pytest.raises(WorkspaceError, match=r"published/x\.json .* is damaged"):
        mirrors.bring_exports(workspace.path)
    assert server.asked == []
    assert not list(tmp_path.rglob("stolen"))


def test_a_folder_that_says_it_is_a_mirror_is_a_folder(server: ObjectServer, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "unpacked")
    (workspace.path / ".address").write_text(WHERE)
    again = Workspace(tmp_path / "unpacked", create=False)
    with again.locked():
        again.blobs.put(".txt", lambda path: path.write_text("mine"))
    assert (again.address, server.asked) == (None, [])


def test_a_mirror_is_shown_by_its_address_from_a_folder_above_it(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exports = Workspace(WHERE).path / "exports"
    monkeypatch.chdir(tmp_path)
    assert console.shown(exports) == f"{WHERE}/exports"


def test_what_is_deleted_in_a_mirror_comes_again(server: ObjectServer) -> None:
    workspace = Workspace(WHERE)
    with workspace.locked():
        workspace.write_table("attributes", "a", ROWS, Attribute)
    for path in workspace.path.iterdir():  # as `rm -rf *` does, which leaves names with a dot
        if path.is_dir() and not path.name.startswith("."):
            shutil.rmtree(path)
        elif not path.name.startswith("."):
            path.unlink()
    with Workspace(WHERE).locked():
        pass
    assert Workspace(WHERE, create=False).table("attributes", Attribute) == ROWS


@pytest.mark.parametrize("how", ["rm -rf MIRROR", "rm -rf *"])
def test_what_is_deleted_in_a_mirror_while_a_run_works_in_it_stays_there(server: ObjectServer, how: str) -> None:
    workspace = Workspace(WHERE)

    def run() -> None:
        with workspace.locked():
            workspace.write_table("attributes", "a", ROWS, Attribute)
            assert workspace._mirror
            workspace._mirror.commit()
            for path in workspace.path.iterdir():
                if how == "rm -rf MIRROR" or not path.name.startswith("."):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            (workspace.path / "tables").mkdir()
            workspace._mirror.commit()

    with pytest.raises(WorkspaceError, match="was deleted while a command worked in it"):
        run()
    assert Workspace(WHERE, create=False).table("attributes", Attribute) == ROWS


def test_a_run_that_lost_its_lease_leaves_the_pages_of_the_next_one(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And notes of what is looked at stay with who wrote them, wherever they lie."""

    def run(machine: str, said: str, meanwhile: Callable[[], Workspace] | None = None) -> Workspace:
        on_machine(tmp_path, monkeypatch, machine)
        workspace = Workspace(WHERE)
        with workspace.locked():
            (workspace.path / "report").mkdir(exist_ok=True)
            for name in ("report.html", "inpaintbench-notes.json"):
                (workspace.path / "report" / name).write_text(said)
            if meanwhile:
                meanwhile()
        return workspace

    monkeypatch.setattr(mirrors, "_EXPIRES_SECONDS", -1.0)
    with pytest.raises(WorkspaceError, match="another run has taken"):
        run("one", "older", partial(run, "two", "newer"))
    there = fsspec.filesystem("s3")
    assert there.cat_file("bucket/my ws/report/report.html") == b"newer"
    assert not there.exists("bucket/my ws/report/inpaintbench-notes.json")
    third = run("two", "newest")
    with third.locked():
        (third.path / "report" / "report.html").unlink()
    assert not there.exists("bucket/my ws/report/report.html")
    assert (third.path / "report" / "inpaintbench-notes.json").read_text() == "newest"


def test_one_object_is_removed_by_its_name_alone(server: ObjectServer) -> None:
    there = fsspec.filesystem("s3")
    for run in ("run1", "run[1]", "run*"):
        there.pipe_file(f"bucket/{run}/page.html", b"x")
    storage.remove(Address("s3", "s3://bucket/run[1]"), ["page.html", "nothing.html"])
    storage.remove(Address("s3", "s3://bucket/run*"), ["page.html"])
    assert [there.exists(f"bucket/{run}/page.html") for run in ("run1", "run[1]", "run*")] == [True, False, False]


def test_an_older_dataset_never_takes_the_place_of_a_newer_one(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(workspace: Workspace, said: str) -> None:
        root = workspace.path / "exports" / "devil" / "dataset.json"
        root.parent.mkdir(parents=True, exist_ok=True)
        root.write_text(said)

    def published() -> bytes:
        return bytes(fsspec.filesystem("s3").cat_file("bucket/my ws/exports/devil/dataset.json"))

    first = Workspace(WHERE)
    with first.locked():
        export(first, "one")
    on_machine(tmp_path, monkeypatch, "two")
    second = Workspace(WHERE)
    with second.locked():
        mirrors.bring_exports(second.path)
        assert (second.path / "exports" / "devil" / "dataset.json").read_text() == "one"
        export(second, "two")
    assert published() == b"two"
    on_machine(tmp_path, monkeypatch, "one")
    again = Workspace(WHERE)
    with again.locked():
        append(again, "a")
    assert published() == b"two"
    mirrors.bring_exports(again.path)
    assert (again.path / "exports" / "devil" / "dataset.json").read_text() == "two"
    # One that is newer here, of a run that was killed before it could send it, is kept and sent.
    export(again, "three")
    mirrors.bring_exports(again.path)
    with again.locked():
        pass
    assert published() == b"three"


def test_a_store_that_writes_over_is_refused_before_any_work_again_and_again(server: ObjectServer) -> None:
    server.writes_over = True
    for _ in range(2):
        server.asked.clear()
        with pytest.raises(InputError, match="is written over though that is asked not to be"), Workspace(WHERE).locked():
            pass
        assert {path.partition("?")[0].split("/")[3] for method, path in server.asked if method == "PUT"} == {"leases"}


@pytest.mark.parametrize("address", ["hf://datasets/owner/name", "hf://buckets/owner/name"])
def test_an_address_where_two_may_write_the_same_is_no_place_for_a_workspace(server: ObjectServer, address: str) -> None:
    with pytest.raises(UsageError, match="cannot hold a workspace"):
        Workspace(address)
