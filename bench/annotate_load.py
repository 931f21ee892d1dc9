"""50 and 200 raters in a closed loop over real HTTP while servers are killed: what is lost or doubled, how long a submit takes.

python bench/annotate_load.py [--quick] [--connections | --entry]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import numpy as np
from annotate_load import Browser, Result, run_load
from annotate_load import Served as AnnotateServed
from annotated_server import answer_to
from crowds import write_crowd_study
from ports import free_port
from postgres import running_postgres
from signed_links import key_server
from studies_made import write_study

from inpaintbench.annotate.app.routes import STATIC
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.participants import Participants
from inpaintbench.annotate.outcomes.payments import payments
from inpaintbench.annotate.study import load

LIMIT_MS, RATERS = 300, 50
QUESTIONS = [{"leaf": "keep_reject", "raters_per_task": 3}]


def checked(folder: Path, result: Result, *, database: str | None) -> dict[str, int]:
    """Counts of what went wrong between what raters were told and what the journal holds."""
    journal = Journal(database or folder / "journal.sqlite")
    events = [event for event in journal.events(load(folder).study_id) if event.kind == "answer"]
    journal.close()
    stored = Counter(str(event.body["submission_id"]) for event in events)
    tasks = Counter((event.rater_id, event.body["task_id"]) for event in events)
    return {
        "acknowledged": len(result.acknowledged),
        "lost": len(set(result.acknowledged) - set(stored)),
        "doubled": sum(count > 1 for count in stored.values()) + len(stored) - len(set(result.acknowledged)),
        "task twice": sum(count > 1 for count in tasks.values()),
    }


def row(name: str, folder: Path, result: Result, *, raters: int, kills: int, database: str | None = None) -> tuple[str, bool]:
    found = checked(folder, result, database=database)
    p50, p95 = (1000 * float(np.quantile(result.seconds, share)) for share in (0.5, 0.95))
    good = not (found["lost"] or found["doubled"] or found["task twice"]) and (p95 < LIMIT_MS or raters > RATERS)
    rate = found["acknowledged"] / result.elapsed_seconds
    return (
        f"| {raters} | {name} | {found['acknowledged']} | {found['lost']} | {found['doubled']} | {found['task twice']} | {kills} "
        f"| {result.retried} | {result.moved} | {p50:.0f} ms | {p95:.0f} ms | {rate:.0f} |",
        good,
    )


IDLE, ARRIVALS, ARRIVAL_SECONDS, LATEST_MS = 1500, 300, 60, 1000
IDLE_SECONDS = 10
OF_A_BROWSER = 6
"""Connections that one holds to a host."""


class Stranger(Browser):
    """Somebody of a platform with an address of their own."""

    def __init__(self, port: int, number: int) -> None:
        super().__init__([port], "")
        self.number = number

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            address = f"127.{1 + self.number // 65536}.{self.number // 256 % 256}.{self.number % 256}"
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))
        return self._streams


async def ask(stranger: Stranger, method: str, path: str, fields: Any = None) -> tuple[int, float]:
    """Status, 0 where the connection broke, and milliseconds; a kept connection that is gone is opened once more."""
    kept, begun = stranger._streams is not None, time.perf_counter()
    for _ in range(1 + kept):
        with contextlib.suppress(ConnectionError):
            status, headers, _ = await stranger.request(method, path, fields)
            stranger.cookie = headers.get("set-cookie", stranger.cookie).partition(";")[0]
            return status, 1000 * (time.perf_counter() - begun)
    return 0, 1000 * (time.perf_counter() - begun)


async def beside_idle(port: int, *, addresses: int) -> tuple[int, float, int]:
    """Refusals and the slowest of 20 requests of others while connections are idle; and how many of these are open at the end."""
    idle = [Stranger(port, 1 + number % addresses) for number in range(IDLE)]
    for one in idle:
        with contextlib.suppress(OSError):
            await one._open()
    answers = [await ask(Stranger(port, 10_000 + number), "GET", "/login") for number in range(20)]
    open_still = sum(one._streams is not None and not one._streams[0].at_eof() for one in idle)
    for one in idle:
        one.close()
    return sum(status != 200 for status, _ in answers), max(seconds for _, seconds in answers), open_still


async def arrive(port: int, number: int, paths: list[str]) -> list[tuple[int, float]]:
    """One arrival: the link, the page and its files over six connections, consent; all are kept open."""
    browser = [Stranger(port, 20_000 + number) for _ in range(OF_A_BROWSER)]
    said = [await ask(browser[0], "GET", f"/enter?PROLIFIC_PID=pid{number}&STUDY_ID=s&SESSION_ID=t{number}")]
    for one in browser:
        one.cookie = browser[0].cookie

    async def load(place: int) -> list[tuple[int, float]]:
        return [await ask(browser[place], "GET", path) for path in paths[place::OF_A_BROWSER]]

    for answers in await asyncio.gather(*map(load, range(OF_A_BROWSER))):
        said += answers
    said.append(await ask(browser[0], "POST", "/api/steps", {"step": "consent", "answer": True}))
    return said


async def arrivals(port: int, *, people: int, seconds: float) -> list[tuple[int, float]]:
    paths = ["/", *(f"/static/{path.name}" for path in sorted(STATIC.glob("*.js"))), "/static/style.css"]

    async def later(number: int) -> list[tuple[int, float]]:
        await asyncio.sleep(number * seconds / people)
        return await arrive(port, number, paths)

    return [answer for answers in await asyncio.gather(*map(later, range(people))) for answer in answers]


def cpu_seconds(process: int) -> float:
    """Of a process of Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connections(scratch: Path, *, quick: bool) -> bool:
    """What idle connections and many arrivals do to others."""
    folder = scratch / "connections"
    write_crowd_study(folder, "https://platform.test", places=10_000, subjects=400, places_a_network=0)
    served = AnnotateServed(folder, free_port())
    served.start()
    assert served.process is not None
    before = cpu_seconds(served.process.pid)
    time.sleep(IDLE_SECONDS)
    idle = (cpu_seconds(served.process.pid) - before) / IDLE_SECONDS
    people, seconds = (30, 6) if quick else (ARRIVALS, ARRIVAL_SECONDS)
    print("## Connections\n")
    print(f"Asked: beside {IDLE} idle connections others are answered within {LATEST_MS} ms; of {people} arrivals in {seconds} s")
    print(f"none refused. The machine had a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.")
    print(f"Asked by nobody the server takes {idle:.1%} of a core, over {IDLE_SECONDS} s.\n")
    print("| what | requests of others | refused | slowest | median | idle ones still open |")
    print("|---|---|---|---|---|---|")
    good = True
    try:
        for name, addresses in ((f"{IDLE} idle, one address", 1), (f"{IDLE} idle, 300 addresses", 300)):
            refused, slowest, left = asyncio.run(beside_idle(served.port, addresses=addresses))
            good &= not refused and slowest < LATEST_MS
            print(f"| {name} | 20 | {refused} | {slowest:.0f} ms | | {left} |")
        told = asyncio.run(arrivals(served.port, people=people, seconds=seconds))
        refused = sum(status not in (200, 303) for status, _ in told)
        times = [seconds for _, seconds in told]
        good &= not refused
        print(f"| {people} arrivals | {len(told)} | {refused} | {max(times):.0f} ms | {np.median(times):.0f} ms | |")
    finally:
        served.stop()
    return good


INVENTED, NETWORKS, OF_A_NETWORK = 1000, 20, 5
PROLIFIC_STUDY = "6" * 24


def taken(folder: Path) -> tuple[int, list[dict[str, str]], bytes]:
    """Strangers who are at work, the rows of payments, and every answer that counts with the session of whoever gave it."""
    study = load(folder)
    with Journal(folder / "journal.sqlite") as journal:
        people = Participants(journal).all(study.study_id)
        desk = Desk(study, journal)
        paid = [asdict(row) for row in payments(desk.state(), study.file.crowd, people, now=time.time())]
        votes = sorted((vote.rater_id, vote.task_id, vote.choice) for vote in desk.all_answers().votes)
        return len(desk.at_work()), paid, repr(votes).encode()


async def invent(port: int, query: Callable[[int], str]) -> int:
    """Let invented people come and agree, as fast as the server takes them; how many get a page of their own."""

    async def one(number: int) -> bool:
        stranger = Stranger(port, 256 * (number % NETWORKS) + 1 + number // NETWORKS)
        while (status := (await ask(stranger, "GET", f"/enter?{query(number)}"))[0]) in (0, 429):
            await asyncio.sleep(1)
        if status == 303:
            await ask(stranger, "POST", "/api/steps", {"step": "consent", "answer": True})
        stranger.close()
        return status == 303

    entered = 0
    for begin in range(0, INVENTED, 50):
        entered += sum(await asyncio.gather(*map(one, range(begin, begin + 50))))
    return entered


async def work_to_the_end(port: int, query: str) -> Stranger:
    """Somebody honest, from a network of their own."""
    stranger = Stranger(port, 60_000)
    await ask(stranger, "GET", f"/enter?{query}")
    work = json.loads((await stranger.request("POST", "/api/steps", {"step": "consent", "answer": True}))[2])
    while work["status"] == "working":
        sent = answer_to(work["queue"][0])
        work = json.loads((await stranger.request("POST", "/api/answers", sent))[2])["work"]
    return stranger


async def replay(port: int, number: int, query: str) -> int:
    """Come by a link in a browser of one's own and try to withdraw; the status of the link."""
    stranger = Stranger(port, number)
    status, _ = await ask(stranger, "GET", f"/enter?{query}")
    await ask(stranger, "POST", "/api/steps", {"step": "withdraw", "sure": True})
    stranger.close()
    return status


def entry(scratch: Path) -> bool:
    """What invented ids take, and what replaying another's changes."""
    print("## Entry\n")
    print(
        f"{INVENTED} invented ids from {NETWORKS} networks come over HTTP and agree. Asked: none is let in where links are "
        f"signed, at most {OF_A_NETWORK} of a network are at work where they are not; and what is replayed of somebody who came "
        "to the end (their id, their session, both, the whole link), with a withdrawal behind it, changes nothing of what is "
        "paid and counted.\n"
    )
    print("| links | invented | entered | at work | replays refused | payments changed | answers changed |")
    print("|---|---|---|---|---|---|---|")
    good = True
    with key_server() as keys:
        for name in ("signed", "unsigned"):
            folder, signed = scratch / name, name == "signed"
            said = {"platform": "prolific", "signed": True, "study_id": PROLIFIC_STUDY, "link": {}, "keys": keys.address}
            write_crowd_study(folder, "https://platform.test", places=60, subjects=100, **(said if signed else {}))
            served = AnnotateServed(folder, free_port())
            served.start()

            def plain(person: int, session: int) -> dict[str, str]:
                return {"PROLIFIC_PID": f"{person:024x}", "STUDY_ID": PROLIFIC_STUDY, "SESSION_ID": f"{session:024x}"}

            def forged(number: int, plain: Any = plain, signed: bool = signed) -> str:
                fields = plain(number, number)
                how = ({"by": "another key"}, {"alg": "none"}, {"alg": "HS256"})[number % 3]
                return keys.link(fields, **how) if signed and number % 10 == 0 else urlencode(fields)

            try:
                own = plain(10**6, 10**6)
                origin = {"aud": f"http://127.0.0.1:{served.port}"}
                theirs = keys.link(own, **origin) if signed else urlencode(own)
                asyncio.run(work_to_the_end(served.port, theirs))
                before = taken(folder)
                replays = [plain(10**6, 7), plain(7, 10**6), {**own, "STUDY_ID": "7" * 24}]
                token = theirs[theirs.index("&prolific_token") :] if signed else ""
                links = [theirs, urlencode(own), *(urlencode(fields) + token for fields in replays)]
                refused = sum(asyncio.run(replay(served.port, 61_000 + at, link)) in (400, 403) for at, link in enumerate(links))
                after = taken(folder)
                entered = asyncio.run(invent(served.port, forged))
                at_work, paid, _ = taken(folder)
            finally:
                served.stop()
            changed = [one != two for one, two in zip(before[1:], after[1:], strict=True)]
            good &= at_work <= (0 if signed else NETWORKS * OF_A_NETWORK) and not any(changed) and refused == len(links)
            good &= [row for row in paid if row["decision"] == "pay"] == before[1]
            cells = (name, INVENTED, entered, at_work, f"{refused} of {len(links)}", *map(int, changed))
            print(f"| {' | '.join(map(str, cells))} |")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--connections", action="store_true", help="these alone")
    parser.add_argument("--entry", action="store_true", help="invented and replayed ids alone")
    options = parser.parse_args()
    quick = options.quick
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        if options.entry:
            return 0 if entry(Path(folder)) else 1
        held = connections(Path(folder), quick=quick)
        held &= options.connections or entry(Path(folder))
    if options.connections:
        return 0 if held else 1
    print()
    crowds = [(10, 200, 2)] if quick else [(RATERS, 5000, 10), (4 * RATERS, 6000, 10)]
    print("## Raters under load\n")
    print(
        f"{RATERS} raters, then {4 * RATERS}, each sending the next answer as soon as the last one is acknowledged; servers and "
        "raters share the cores. Submit = answer stored and next task handed out. Asked: none lost, none doubled, and of "
        f"{RATERS} raters 95 % of submits within {LIMIT_MS} ms. Times are of requests that were answered at the first try; the "
        "rate counts the time in which killed servers start and raters enter, of whom a server takes five a second from one "
        "address.\n"
    )
    print(f"The machine had a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores when this began.\n")
    print("| raters | journal | answers | lost | doubled | task twice | kills | sent again | moved | median | 95 % | answers/s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    lines = []
    with tempfile.TemporaryDirectory() as scratch, running_postgres() as postgres:
        for raters, answers, kills in crowds:
            places = [("SQLite, one server", hits, 1, None) for hits in (0, kills)]
            places += [("PostgreSQL, two servers", hits, 2, postgres.fresh()) for hits in (0, kills)]
            for name, hits, servers, url in places:
                folder = Path(scratch) / f"{servers}-{raters}-{hits}"
                write_study(folder, QUESTIONS, subjects=2 * answers // 3, still=True, checks={"repeat_share": 0.0})
                done = run_load(folder, raters=raters, answers=answers, kills=hits, servers=servers, database=url)
                lines.append(row(name, folder, done, raters=raters, kills=hits, database=url))
    print("\n".join(text for text, _ in lines))
    return 0 if held and all(good for _, good in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
