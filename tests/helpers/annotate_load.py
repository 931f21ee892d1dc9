"""Many raters at once over real HTTP, each answering as fast as it can, while servers are killed."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from ports import free_port

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.rehearsal import filled
from inpaintbench.annotate.study import load

RETRY_SECONDS = 0.1


@dataclass
class Served:
    """``inpaintbench annotate serve`` on a port of its own, that can be killed and started again."""

    folder: Path
    port: int
    database: str | None = None
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start and wait until it answers.

        It is asked seldom: questions that wait while the app is loaded are all answered then, and strangers have a limit.
        """
        command = [sys.executable, "-m", "inpaintbench", "annotate", "serve", str(self.folder), "--port", str(self.port)]
        if self.database:
            command += ["--database", self.database]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        for _ in range(240):
            if self.answers():
                return
            if self.process.poll() is not None:
                raise AssertionError(f"{' '.join(command)} ended with {self.process.returncode}")
            time.sleep(0.5)
        self.stop()
        raise AssertionError("the server did not start within two minutes")

    def answers(self) -> bool:
        """Whether the app is there: the port is taken long before."""
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            wire.request("GET", "/login")
            return wire.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            wire.close()

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=30)


@dataclass
class Result:
    """What the raters saw."""

    acknowledged: list[str] = field(default_factory=list)
    """Submission ids that a server said it stored."""
    seconds: list[float] = field(default_factory=list)
    """Of each request that was answered at once, from sending to the whole answer."""
    retried: int = 0
    """Requests that had to be sent again."""
    moved: int = 0
    """Raters that went on at another server."""
    elapsed_seconds: float = 0.0


class Browser:
    """One rater over one kept connection; HTTP/1.1 by hand, because a client library costs more than the server."""

    def __init__(self, ports: list[int], secret: str) -> None:
        self.ports, self.secret = ports, secret
        self.cookie = ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def port(self) -> int:
        return self.ports[0]

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        return self._streams

    async def request(self, method: str, path: str, fields: Any = None) -> tuple[int, dict[str, str], bytes]:
        body = b"" if fields is None else json.dumps(fields).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Content-Length: {len(body)}"]
        lines += [f"Cookie: {self.cookie}"] if self.cookie else []
        if fields is not None:
            lines += ["Content-Type: application/json", "X-Inpaintbench: 1", f"Origin: http://127.0.0.1:{self.port}"]
        try:
            reader, writer = await self._open()
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            return int(head[0].split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))
        except (OSError, asyncio.IncompleteReadError, IndexError) as error:
            self.close()
            raise ConnectionError(str(error)) from error

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def join(self) -> None:
        status, headers, _ = await self.request("GET", f"/join/{self.secret}")
        if status == 429:
            raise ConnectionError("too many at once")
        assert status == 303, status
        self.cookie = headers["set-cookie"].partition(";")[0]

    async def insist(self, path: str, fields: Any, result: Result, *, moves: bool) -> dict[str, Any]:
        """Send until a server answers, as browsers do; a rater whose server stays dead goes to the next one."""
        tries = 0
        while True:
            begun = time.perf_counter()
            try:
                status, _, body = await self.request("POST", path, fields)
            except ConnectionError:
                status, body = 503, b""
            if status == 200:
                if tries == 0:
                    result.seconds.append(time.perf_counter() - begun)
                return dict(json.loads(body))
            if status not in (429, 503):
                raise AssertionError(f"{path} answered {status}: {body[:200]!r}")
            tries += 1
            result.retried += 1
            if moves and tries % 5 == 0 and len(self.ports) > 1:
                self.ports = [*self.ports[1:], self.ports[0]]
                result.moved += 1
            await asyncio.sleep(RETRY_SECONDS)


async def rate(browser: Browser, result: Result, *, wanted: int, seed: int, moves: bool) -> None:
    """Answer until ``wanted`` answers of this run are stored or there is nothing more."""
    rng, draws = random.Random(seed), np.random.default_rng(seed)
    while not browser.cookie:  # five a second enter from one address
        with contextlib.suppress(ConnectionError):
            await browser.join()
            break
        await asyncio.sleep(RETRY_SECONDS)
    work = await browser.insist("/api/work", {}, Result(), moves=moves)
    done = 0
    while done < wanted and work["queue"]:
        card = work["queue"][0]
        fields = {
            "submission_id": str(uuid.UUID(int=rng.getrandbits(128), version=4)), "lease_id": card["lease_id"],
            "given": filled(card["question"]["form"], draws), "seconds": 1.5, "watched_frames": card["media"]["frames"],
            "dropped_frames": 0, "plays": 1.0, "stuttered": False,
        }  # fmt: skip
        told = await browser.insist("/api/answers", fields, result, moves=moves)
        assert told["stored"]
        result.acknowledged.append(fields["submission_id"])
        work = told["work"]
        done += 1
    browser.close()


def invite_many(folder: Path, count: int, *, database: str | None = None) -> list[str]:
    """Secrets of ``count`` new raters."""
    study = load(folder)
    journal = Journal(database or folder / "journal.sqlite")
    journal.register(study.study_id, title=study.file.title)
    people = People(journal)
    secrets = [people.invite(study.study_id, people.add(study.study_id, f"rater {one}").rater_id) for one in range(count)]
    journal.close()
    return secrets


def run_in_thread(work: Coroutine[Any, Any, Any]) -> None:
    """``asyncio.run`` of its own thread: Playwright keeps a loop in the main one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def run_load(
    folder: Path, *, raters: int, answers: int, kills: int, servers: int = 1, database: str | None = None, seed: int = 0
) -> Result:
    """``raters`` at once give ``answers`` answers while servers are killed ``kills`` times and started again."""
    secrets = invite_many(folder, raters, database=database)
    served = [Served(folder, free_port(), database) for _ in range(servers)]
    for one in served:
        one.start()
    result = Result()
    try:
        run_in_thread(_run(served, secrets, result, wanted=answers // raters, kills=kills, seed=seed))
    finally:
        for one in served:
            one.stop()
    return result


async def _run(served: list[Served], secrets: list[str], result: Result, *, wanted: int, kills: int, seed: int) -> None:
    ports = [one.port for one in served]
    browsers = [
        Browser([*ports[place % len(ports) :], *ports[: place % len(ports)]], secret) for place, secret in enumerate(secrets)
    ]
    begun = time.perf_counter()
    rating = asyncio.gather(
        *(rate(one, result, wanted=wanted, seed=1000 * seed + place, moves=len(ports) > 1) for place, one in enumerate(browsers))
    )
    killing = asyncio.create_task(_kill(served, result, wanted=wanted * len(secrets), kills=kills, seed=seed))
    await rating
    await killing
    result.elapsed_seconds = time.perf_counter() - begun


async def _kill(served: list[Served], result: Result, *, wanted: int, kills: int, seed: int) -> None:
    """At moments spread over the answers, not the clock, so that every kill meets work in flight."""
    rng = random.Random(seed)
    moments = sorted(rng.uniform(0.05, 0.95) * wanted for _ in range(kills))
    for moment in moments:
        while len(result.acknowledged) < moment:
            await asyncio.sleep(0.002)
        one = rng.choice(served)
        one.kill()
        moved = result.moved
        # Where there are others, a server stays dead until one of its raters has left it, however fast it would be back.
        while len(served) > 1 and result.moved == moved and len(result.acknowledged) < wanted:
            await asyncio.sleep(0.002)
        await asyncio.to_thread(one.start)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
