"""The hourly limit holds for everybody together, and nobody waits longer than it needs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from inpaintbench.errors import InputError, NetworkError
from inpaintbench.wings.fetch.flickr_client import TokenBucket, bucket_path

CALLS = "\n".join([
    "import sys, time",
    "from pathlib import Path",
    "from inpaintbench.wings.fetch.flickr_client import TokenBucket",
    "bucket = TokenBucket(Path(sys.argv[1]), per_hour=72020, burst=20)",
    "for _ in range(15):",
    "    bucket.take()",
    "    print(time.time(), flush=True)",
])  # fmt: skip


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def bucket(folder: Path, clock: Clock, *, per_hour: int = 100, burst: int | None = 10) -> TokenBucket:
    return TokenBucket(folder / "rates" / "b.sqlite", per_hour=per_hour, burst=burst, clock=clock, sleep=clock.sleep)


def test_a_burst_then_even_spacing(tmp_path: Path, clock: Clock) -> None:
    shared = bucket(tmp_path, clock)
    waits = [shared.take() for _ in range(14)]
    assert waits[:10] == pytest.approx([0] * 10, abs=1e-5)
    assert waits[10:] == pytest.approx([40] * 4, abs=1e-5)  # 3600 s / (100 - 10)


@pytest.mark.parametrize(("per_hour", "burst", "calls"), [(25, 5, 80), (40, None, 90), (7, 3, 40), (1, 1, 9)])
def test_no_hour_holds_more_than_the_limit(tmp_path: Path, clock: Clock, per_hour: int, burst: int | None, calls: int) -> None:
    shared = bucket(tmp_path, clock, per_hour=per_hour, burst=burst)
    taken = []
    for place in range(calls):
        if place == calls // 3:
            clock.now += 20_000.0  # a rest fills the bucket
        shared.take()
        taken.append(clock.now)
    most = max(sum(begin <= moment < begin + 3599.99 for moment in taken) for begin in taken)
    assert per_hour - 1 <= most <= per_hour  # the limit holds, and nothing of it is wasted


def test_callers_are_served_in_order_even_when_their_sleeps_overlap(tmp_path: Path, clock: Clock) -> None:
    waits: list[float] = []
    shared = TokenBucket(tmp_path / "b.sqlite", per_hour=100, burst=10, clock=clock, sleep=waits.append)  # nobody's clock moves
    for _ in range(30):
        shared.take()
    assert waits == pytest.approx([40.0 * (place + 1) for place in range(len(waits))], abs=1e-3)
    assert len(waits) in (20, 21)  # rounding of the clock may turn the last call of the burst into a wait of 0


def test_a_pause_stops_everybody_and_leaves_no_burst(tmp_path: Path, clock: Clock) -> None:
    bucket(tmp_path, clock).pause(100.0)
    other = bucket(tmp_path, clock)
    assert [other.take(), other.take()] == pytest.approx([100, 40], abs=1e-5)


def test_impatient_callers_reserve_nothing(tmp_path: Path, clock: Clock) -> None:
    shared = bucket(tmp_path, clock)
    shared.pause(100.0)
    with pytest.raises(NetworkError, match="another 100 seconds"):
        shared.take(patience_seconds=99.0)
    assert shared.take(patience_seconds=101.0) == pytest.approx(100, abs=1e-5)


def test_a_clock_set_back_costs_an_hour_at_most(tmp_path: Path, clock: Clock) -> None:
    shared = bucket(tmp_path, clock)
    shared.take()
    clock.now -= 86_400.0
    assert shared.take() <= 3600.0


def test_processes_share_one_limit(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite"
    begin = time.time()
    command = [sys.executable, "-c", CALLS, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4
    moments = sorted(float(line) for text in printed for line in text.split())
    assert len(moments) == 60
    # The call with place k may not come before k - 19 spacings of 3600 / 72000 s, counted from a moment before the first.
    assert all(moment >= begin + max(0, place - 19) * 0.05 - 1e-3 for place, moment in enumerate(moments))


@pytest.mark.parametrize(
    ("per_hour", "burst", "said"), [(0, None, "0 calls an hour"), (10, 11, "burst of 11"), (10, 0, "burst of 0")]
)
def test_limits_that_make_no_sense_are_refused(tmp_path: Path, per_hour: int, burst: int | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        TokenBucket(tmp_path / "b.sqlite", per_hour=per_hour, burst=burst)


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "b.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match=r"b\.sqlite.*INPAINTBENCH_CACHE"):
        TokenBucket(tmp_path / "b.sqlite").take()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="INPAINTBENCH_CACHE"):
        TokenBucket(tmp_path / "file" / "b.sqlite").take()


def test_the_path_follows_the_environment_and_hides_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("INPAINTBENCH_CACHE", raising=False)
    shared = bucket_path("flickr", "the key")
    assert shared.parent == tmp_path / "xdg" / "inpaintbench" / "rates"
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "own"))
    assert bucket_path("flickr", "the key") == tmp_path / "own" / "rates" / shared.name
    assert "key" not in shared.name
    assert bucket_path("flickr", "another key").name != shared.name
