"""Idle connections keep nobody out: those of one person, of one network, and of many networks together."""

from __future__ import annotations

import http.client
import resource
import socket
import time
from collections.abc import Iterator

import pytest
from annotated_server import Served, served
from crowds import write_crowd_study

from inpaintbench.annotate.app.connections import CROWDED, MOST_OF_NETWORK, MOST_OF_PERSON


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192) if most > 0 else 8192, most))
    folder = tmp_path_factory.mktemp("connections") / "study"
    write_crowd_study(folder, "https://platform.test", places_a_network=0)
    with served(folder) as running:
        yield running


class Wire:
    """A connection from an address of this machine, which stays open."""

    def __init__(self, server: Served, address: str) -> None:
        self.wire = socket.create_connection(("127.0.0.1", server.port), timeout=20, source_address=(address, 0))
        self.host = f"127.0.0.1:{server.port}"

    def ask(self, path: str = "/login", *, cookie: str = "") -> int:
        head = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n{f'Cookie: {cookie}' + chr(13) + chr(10) if cookie else ''}\r\n"
        self.wire.sendall(head.encode())
        answer = http.client.HTTPResponse(self.wire)
        answer.begin()
        answer.read()
        return answer.status

    def begin(self) -> None:
        """Send the head of a request whose body does not come."""
        lines = ["POST /login HTTP/1.1", f"Host: {self.host}", f"Origin: http://{self.host}", "Content-Length: 9"]
        self.wire.sendall("\r\n".join([*lines, "Content-Type: application/x-www-form-urlencoded", "", ""]).encode())

    def is_open(self) -> bool:
        self.wire.setblocking(False)
        try:
            return self.wire.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


def open_ones(wires: list[Wire]) -> list[int]:
    time.sleep(0.3)
    return [number for number, wire in enumerate(wires) if wire.is_open()]


def close(wires: list[Wire]) -> None:
    for wire in wires:
        wire.wire.close()
    time.sleep(0.3)


def test_of_one_network_the_longest_idle_make_room(server: Served) -> None:
    wires = [Wire(server, "127.0.1.1") for _ in range(3)]  # two of them have said nothing yet
    wires[0].begin()
    for _ in range(MOST_OF_NETWORK + 40):
        wires.append(Wire(server, "127.0.1.1"))
        assert wires[-1].ask() == 200
    left = open_ones(wires)
    assert len(left) == MOST_OF_NETWORK
    assert left[:3] == [0, 1, 2]  # at work, or on their way
    assert left[3:] == list(range(len(wires) - MOST_OF_NETWORK + 3, len(wires)))
    close(wires)


def test_whoever_comes_while_their_network_is_at_work_is_answered(server: Served) -> None:
    wires = [Wire(server, "127.0.6.1") for _ in range(MOST_OF_NETWORK)]
    for wire in wires:
        wire.begin()
    late = [Wire(server, "127.0.6.1") for _ in range(20)]
    assert {wire.ask() for wire in late} == {200}
    assert len(open_ones(wires)) == MOST_OF_NETWORK
    close([*wires, *late])


def test_of_one_person_few_are_kept_whatever_the_network(server: Served) -> None:
    entered = server.ask("GET", "/enter?PROLIFIC_PID=one&SESSION_ID=s&STUDY_ID=t")
    cookie = entered.headers["set-cookie"].partition(";")[0]
    wires = [Wire(server, f"127.0.2.{number % 5}") for number in range(MOST_OF_PERSON + 10)]
    assert {wire.ask("/static/queue.js", cookie=cookie) for wire in wires} == {200}
    assert len(open_ones(wires)) == MOST_OF_PERSON
    close(wires)


def test_under_pressure_idle_ones_of_the_largest_networks_go_first(server: Served) -> None:
    quiet = Wire(server, "127.0.3.1")
    assert quiet.ask() == 200
    wires = []
    for number in range(CROWDED + 100):
        wires.append(Wire(server, f"127.0.4.{number % 9}"))
        if number % 2:
            assert wires[-1].ask() == 200  # the others say nothing at all
    begun = time.monotonic()
    assert Wire(server, "127.0.5.1").ask() == 200
    assert time.monotonic() - begun < 20
    assert len(open_ones(wires)) <= CROWDED
    assert quiet.ask() == 200  # the longest idle of all, of a network that has no other
    close([*wires, quiet])
