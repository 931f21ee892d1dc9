"""Builds in a bucket that are killed at random moments, shared by shards, or run by clusters without a common folder."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import fsspec
import pytest
import ray_nodes
import yaml
from disturbed import workers_of
from footage import HEIGHT, WIDTH, build_command, contents
from object_server import ObjectServer, object_server
from ports import free_port

from inpaintbench import mirrors, storage
from inpaintbench.workspace import Workspace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "addresses.md"
# Kills of each kind that meet a run, and the builds of one workspace before it is built to its end.
KILLS, IN_ONE = int(os.environ.get("INPAINTBENCH_TEST_KILLS", "3")), 3


@pytest.fixture
def server(benchmark: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("bucket") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        fsspec.filesystem("s3").put(f"{benchmark.parent / 'sources'}/", "bucket/films/", recursive=True)
        yield made


def building(
    tmp_path: Path, benchmark: Path, out: str, *more: str, machine: str = "one", workers: int = 2
) -> subprocess.Popen[str]:
    """A build of the benchmark's films into a bucket, on a machine of that name."""
    command = build_command(benchmark.parent, "workspace", workers=workers)
    command[command.index("--sources") + 1], command[command.index("--out") + 1] = "s3://bucket/films", out
    environment = ray_nodes.environment_of(tmp_path / machine, {})
    words, pipe = [*command, *more], subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True)


def check_built(process: subprocess.Popen[str], benchmark: Path, tmp_path: Path, out: str, machine: str) -> None:
    """The build ends well, and what is in the bucket is what is in the folder: nothing else counts as made."""
    _, told = process.communicate()
    assert process.returncode == 0, told
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(storage.CACHE, str(tmp_path / f"{machine} anew"))
        opened = Workspace(out, create=False)
        mirrors.bring_exports(opened.path)
    own, theirs = contents(benchmark), contents(opened.path)
    assert {name: one for name, one in own.items() if not name.startswith("blobs")} == theirs


@pytest.mark.long
@pytest.mark.parametrize("kind", ["driver", "worker"])
def test_whoever_is_killed_the_next_run_makes_the_same(kind: str, benchmark: Path, tmp_path: Path, server: ObjectServer) -> None:
    rng, begun = random.Random(kind), time.monotonic()
    building(tmp_path, benchmark, "s3://bucket/first").communicate()
    usual = time.monotonic() - begun
    killed = attempts = 0
    while killed < KILLS:
        out = f"s3://bucket/{kind} {attempts // IN_ONE}"
        process = building(tmp_path, benchmark, out, "--max-failures", "0")
        # What was done in this workspace is not done again: there is less to come.
        time.sleep(rng.uniform(0.1, 0.9) * usual / (1 + attempts % IN_ONE))
        while process.poll() is None and not (found := [process.pid] if kind == "driver" else workers_of(process.pid)):
            time.sleep(0.05)  # it is between two pools
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(found), signal.SIGKILL)
                killed += 1
        process.communicate()
        attempts += 1
        if attempts % IN_ONE == 0 or killed == KILLS:
            check_built(building(tmp_path, benchmark, out), benchmark, tmp_path, out, f"{kind} {attempts}")
        assert attempts < 5 * KILLS
    sys.stdout.write(f"{kind}: {killed} killed of {attempts}\n")


@pytest.mark.long
def test_after_ctrl_c_another_machine_goes_on_at_once_from_all_that_was_done(
    benchmark: Path, tmp_path: Path, server: ObjectServer
) -> None:
    out, cache = "s3://bucket/stopped", tmp_path / "stopped" / "cache"
    process = building(tmp_path, benchmark, out, machine="stopped")
    while not list(cache.glob("workspaces/*/ledger/cut.jsonl")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as terminals do, to all of its processes
    told = process.communicate()[1]
    assert process.returncode == 130
    assert "Traceback" not in told
    assert told.splitlines()[-1] == "inpaintbench: stopped; the same command goes on where it was"
    [mirror] = (cache / "workspaces").iterdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(storage.CACHE, str(tmp_path / "looked at"))
        opened = Workspace(out, create=False).path
    logs = {path.name: path.read_bytes() for path in (mirror / "ledger").iterdir()}
    assert logs == {path.name: path.read_bytes() for path in (opened / "ledger").iterdir()}
    check_built(building(tmp_path, benchmark, out, machine="other"), benchmark, tmp_path, out, "other")


@pytest.mark.long
@pytest.mark.parametrize("machines", [("one", "two"), ("one", "one")], ids=" ".join)
def test_two_builds_at_once_are_one_and_a_refusal(
    machines: tuple[str, str], benchmark: Path, tmp_path: Path, server: ObjectServer
) -> None:
    out = "s3://bucket/both"
    both = [building(tmp_path, benchmark, out, machine=machine, workers=1) for machine in machines]
    told = [process.communicate()[1] for process in both]
    refused = [place for place, process in enumerate(both) if process.returncode]
    assert len(refused) <= 1
    assert all(f"inpaintbench: workspace '{out}' is in use by another run" in told[place] for place in refused)
    check_built(building(tmp_path, benchmark, out), benchmark, tmp_path, out, "after")


@pytest.mark.long
def test_shards_over_a_bucket_make_what_one_run_makes(benchmark: Path, tmp_path: Path, server: ObjectServer) -> None:
    out = "s3://bucket/shards"
    words = [sys.executable, "-m", "inpaintbench", "curation", "clips", "--sources", "s3://bucket/films", "--out", out]
    parts = [
        subprocess.Popen(
            [*words, "--size", "128x80", "--per-slice", "2", "--workers", "1", "--shard", f"{number}/2"],
            stderr=subprocess.PIPE, text=True, env=ray_nodes.environment_of(tmp_path / f"shard {number}", {}),
        )
        for number in (1, 2)
    ]  # fmt: skip
    for part in parts:
        told = part.communicate()[1]
        assert part.returncode == 0, told
    # What `curation clips` began has slices, where nothing is said.
    process = building(tmp_path, benchmark, out, "--design", "paired", machine="three")
    check_built(process, benchmark, tmp_path, out, "after")
    [mirror] = (tmp_path / "three" / "cache" / "workspaces").iterdir()
    assert not (mirror / "ledger" / "cut.jsonl").exists()  # the shards did all of it


@pytest.mark.long
def test_nodes_of_a_cluster_share_the_address_alone_and_may_be_killed(
    benchmark: Path, tmp_path: Path, server: ObjectServer
) -> None:
    rng, place = random.Random("node"), Path(f"/tmp/nodes.{os.getpid()}")  # sockets need short paths
    try:
        with ray_nodes.cluster(place, {}) as (address, nodes):
            words = ("--ray", address)
            begun = time.monotonic()
            check_built(building(tmp_path, benchmark, "s3://bucket/ray", *words), benchmark, tmp_path, "s3://bucket/ray", "ray")
            usual = time.monotonic() - begun
            assert all(list((place / name / "cache").rglob("blobs/*/*")) for name in ("one", "two"))
            killed = attempts = 0
            while killed < KILLS:
                out = f"s3://bucket/node {attempts}"
                process = building(tmp_path, benchmark, out, *words)
                time.sleep(rng.uniform(0.1, 0.9) * usual)
                killed += process.poll() is None
                ray_nodes.kill(nodes.pop())
                shutil.rmtree(place / "two")  # a new machine, while the build goes on
                nodes.append(ray_nodes.start_node(ray_nodes.made(place / "two"), {}, "--address", address))
                attempts += 1
                check_built(process, benchmark, tmp_path, out, f"node {attempts}")
                assert attempts < 5 * KILLS
            sys.stdout.write(f"node: {killed} killed of {attempts}\n")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def of_docs(title: str) -> str:
    """What the page shows under a title, for films of the tests."""
    text = PAGE.read_text().partition(f'title="{title}"\n')[2].partition("\n```")[0]
    return text.replace("build devil", f"build devil --size {WIDTH}x{HEIGHT} --per-slice 2 --labels labels.csv")


# As on machines that share nothing, of which the first that is started is the head.
SRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do if [ "$1" = -w ]; then shift; fi; shift; done
case "$3" in
  --head) place=$NODES/one; more="--include-dashboard false --temp-dir $NODES/r" ;;
  *) place=$NODES/two; more= ;;
esac
mkdir -p "$place/home" "$place/tmp"
export HOME="$place/home" TMPDIR="$place/tmp" INPAINTBENCH_CACHE="$place/cache" RAY_USAGE_STATS_ENABLED=0
exec "$@" --num-cpus 1 --object-store-memory 80000000 $more >"$place/log" 2>&1
"""


@pytest.mark.long
def test_the_script_of_the_page_for_slurm_builds_what_one_machine_builds(
    benchmark: Path, tmp_path: Path, server: ObjectServer
) -> None:
    place, programs = Path(f"/tmp/slurm.{os.getpid()}"), tmp_path / "bin"
    programs.mkdir()
    for name, text in (("srun", SRUN), ("scontrol", "#!/bin/sh\necho 127.0.0.1\necho 127.0.0.2\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = ray_nodes.environment_of(tmp_path / "batch", {"NODES": str(place), "SLURM_JOB_NODELIST": "n[1-2]"})
    environment["PATH"] = os.pathsep.join((str(programs), str(Path(sys.executable).parent), environment["PATH"]))
    script = of_docs("cluster.sh").replace("6379", str(free_port()))
    try:
        pipe, words = subprocess.PIPE, ["bash", "-c", script]
        how = {"env": environment, "cwd": benchmark.parent, "start_new_session": True}
        batch = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, **how)
        check_built(batch, benchmark, tmp_path, "s3://bucket/ws", "slurm")
        assert (place / "one" / "cache").exists()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(batch.pid, signal.SIGKILL)  # as SLURM ends the steps of a job that is over
        shutil.rmtree(place, ignore_errors=True)


@pytest.mark.long
def test_the_job_of_the_page_for_kuberay_builds_what_one_machine_builds(
    benchmark: Path, tmp_path: Path, server: ObjectServer
) -> None:
    place, job = Path(f"/tmp/pods.{os.getpid()}"), yaml.safe_load(of_docs("job.yaml"))
    workers, head = job["spec"]["rayClusterSpec"]["workerGroupSpecs"], job["spec"]["rayClusterSpec"]["headGroupSpec"]
    assert (job["kind"], head["rayStartParams"]) == ("RayJob", {"num-cpus": "0"})  # films are worked on elsewhere
    assert job["spec"]["rayClusterSpec"]["authOptions"] == {"mode": ray_nodes.AUTHENTICATION["RAY_AUTH_MODE"]}
    assert all(one["template"]["spec"]["containers"][0]["envFrom"] for one in (head, *workers))
    try:
        with ray_nodes.cluster(place, {}) as (address, _):
            environment = ray_nodes.environment_of(tmp_path / "head", {"RAY_ADDRESS": address})
            environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), environment["PATH"]))
            words = shlex.split(job["spec"]["entrypoint"])
            told = subprocess.PIPE
            stranger = {name: value for name, value in environment.items() if name != "RAY_AUTH_TOKEN"}
            refused = subprocess.run(words, capture_output=True, text=True, check=False, env=stranger, cwd=benchmark.parent)
            assert (refused.returncode, "Traceback" in refused.stderr) == (1, False), refused.stderr
            assert "Token authentication is enabled but no authentication token was found" in refused.stderr
            process = subprocess.Popen(words, stdout=told, stderr=told, text=True, env=environment, cwd=benchmark.parent)
            check_built(process, benchmark, tmp_path, "s3://bucket/ws", "pods")
    finally:
        shutil.rmtree(place, ignore_errors=True)
