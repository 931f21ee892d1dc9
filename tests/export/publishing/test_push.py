from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import TOKEN, HubServer, Request
from publishing_data import contents, make_dataset

from inpaintbench.errors import InpaintBenchError, InputError, NetworkError, VerifyError
from inpaintbench.export.publishing.push import Plan, plan, push
from inpaintbench.export.verify import there

NAME = "somebody/clips"


@pytest.fixture
def ready(small: Path) -> Plan:
    return plan(small, licence="CC-BY-4.0")


def published(made: Plan) -> dict[str, bytes]:
    return contents(made.folder) | dict(made.rewritten)


def test_the_hub_holds_every_file_once_and_shows_it_to_nobody(hub: HubServer, ready: Plan) -> None:
    told: list[tuple[str, int, int]] = []
    done = push(ready, NAME, progress=lambda *parts: told.append(parts))
    assert hub.files(NAME) == published(ready)
    assert hub.repositories[NAME].private
    assert (done.private, done.sent, done.there, done.removed) == (True, 20, 0, 0)
    assert done.url == f"{hub.url}/datasets/{NAME}"
    assert told == [("upload", 6, 20), ("upload", 20, 20)]
    # Slices share their media: no byte goes twice. What makes it a dataset comes last.
    assert len(hub.asked("PUT", "/lfs/")) == 6 + 6
    assert hub.repositories[NAME].messages == ["Add 6 media files", "Add small"]


def test_again_sends_and_commits_nothing(hub: HubServer, ready: Plan) -> None:
    push(ready, NAME)
    commits, puts = len(hub.asked("POST", "/commit/")), len(hub.asked("PUT", ""))
    done = push(ready, NAME)
    assert (done.sent, done.there) == (0, 20)
    assert (len(hub.asked("POST", "/commit/")), len(hub.asked("PUT", ""))) == (commits, puts)


def test_a_spoilt_file_of_the_hub_is_sent_again(hub: HubServer, ready: Plan) -> None:
    push(ready, NAME)
    files = hub.repositories[NAME].branches["main"]
    files["truth/c1.mp4"] = files["truth/c0.mp4"]
    files["README.md"] = files["README.md"].replace(b"small", b"SMALL")  # of equal length
    assert push(ready, NAME).sent == 2
    assert hub.files(NAME) == published(ready)


def test_public_only_when_asked_for(hub: HubServer, ready: Plan) -> None:
    assert not push(ready, "somebody/open", public=True).private
    assert not hub.repositories["somebody/open"].private
    with pytest.raises(InputError, match="'somebody/open' is public on the Hub; push there with --public"):
        push(ready, "somebody/open")
    push(ready, NAME)
    assert push(ready, NAME, public=True).private  # what was private is never opened by a push


def test_a_branch_of_its_own(hub: HubServer, ready: Plan) -> None:
    push(ready, NAME, revision="v1")
    assert hub.files(NAME, "v1") == published(ready)
    assert hub.files(NAME) == {}


def test_a_new_version_removes_what_the_old_one_had(hub: HubServer, tmp_path: Path) -> None:
    old = plan(make_dataset(tmp_path / "old", licences=("MIT",) * 4))
    new = plan(make_dataset(tmp_path / "new", licences=("MIT",) * 3))
    push(old, NAME)
    done = push(new, NAME)
    assert hub.files(NAME) == published(new)
    assert done.removed == 2  # truth and hole of the fourth clip
    assert ".gitattributes" in hub.repositories[NAME].branches["main"]


def test_files_and_datasets_of_others_are_left_alone(hub: HubServer, ready: Plan, tmp_path: Path) -> None:
    push(plan(make_dataset(tmp_path, licences=("MIT",) * 3, name="other")), NAME)
    before = hub.files(NAME)
    with pytest.raises(InputError, match="'somebody/clips' holds the dataset 'other', not 'small'; push to another repository"):
        push(ready, NAME)
    push(ready, "somebody/mine")
    hub.repositories["somebody/mine"].branches["main"]["notes/thesis.tex"] = b"..."
    with pytest.raises(InputError, match=r"holds files that are not of this dataset \(notes/thesis.tex\)"):
        push(ready, "somebody/mine")
    assert hub.files(NAME) == before


def test_what_the_hub_reads_lies_beside_the_dataset_and_stays(hub: HubServer, ready: Plan, tmp_path: Path) -> None:
    push(ready, NAME, of_the_hub={"eval.yaml": b"name: clips\n"})
    assert hub.files(NAME) == published(ready) | {"eval.yaml": b"name: clips\n"}
    commits = len(hub.asked("POST", "/commit/"))
    push(ready, NAME, of_the_hub={"eval.yaml": b"name: clips\n"})
    assert push(ready, NAME).removed == 0, "no file of others, and none to be removed"
    assert len(hub.asked("POST", "/commit/")) == commits
    push(ready, NAME, of_the_hub={"eval.yaml": b"name: films\n"})
    assert hub.files(NAME)["eval.yaml"] == b"name: films\n"
    (ready.folder / "eval.yaml").write_bytes(b"name: films\n")
    assert "eval.yaml" not in there(ready.folder)[0], "a copy of the repository verifies"


def test_licences_are_asked_about_before_the_hub_is(hub: HubServer, small: Path) -> None:
    with pytest.raises(
        InputError, match=r"nobody stated a known licence of film%201.mp4 \(not stated\), film%202.mp4 \(unknown\)"
    ):
        push(plan(small), NAME)
    assert not hub.seen


def test_without_a_token_nothing_is_asked(hub: HubServer, ready: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(InputError, match="set HF_TOKEN to a token that may write, or run `hf auth login`"):
        push(ready, NAME)
    assert not hub.seen


@pytest.mark.parametrize("name", ["clips", "a/b/c", "../x", "somebody/", "some body/clips", "https://hub/a"])
def test_what_names_no_dataset(name: str, ready: Plan) -> None:
    with pytest.raises(InputError, match="does not name a dataset of the Hub; give OWNER/NAME"):
        push(ready, name)


def test_a_busy_hub_is_waited_for_as_long_as_it_asks(hub: HubServer, ready: Plan, waits: list[float]) -> None:
    hub.spoil("POST", "/commit/main", status=429, headers={"Retry-After": "7"}, times=2)
    hub.spoil("POST", "/api/repos/create", status=503)
    hub.spoil("PUT", "/lfs/", status=500, times=2)
    hub.spoil("PUT", "/lfs/")  # hangs up
    hub.spoil("GET", "/tree/", status=504)
    hub.spoil("POST", "/commit/main")
    push(ready, NAME)
    assert hub.files(NAME) == published(ready)
    assert waits.count(7.0) == 2
    assert all(fault.times == 0 for fault in hub.faults)


def test_a_hub_that_stays_busy_is_given_up(hub: HubServer, ready: Plan, waits: list[float]) -> None:
    hub.spoil("POST", "/commit/main", status=429, headers={"Retry-After": "9000"}, times=99)
    with pytest.raises(NetworkError, match=r"^'somebody/clips': HTTP 429: not now$"):
        push(ready, NAME)
    assert waits == [300.0] * 5


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "run `hf auth login` or set HF_TOKEN"),
        (403, "the token may not do this"),
        (413, "HTTP 413: not now"),
        (400, "HTTP 400"),
    ],
)
def test_a_refusal_is_one_sentence_at_once(status: int, words: str, hub: HubServer, ready: Plan, waits: list[float]) -> None:
    hub.spoil("POST", "/api/repos/create", status=status)
    with pytest.raises(NetworkError, match=words):
        push(ready, NAME)
    assert len(hub.asked("POST", "")) == 1
    assert waits == []


def test_a_hub_that_is_not_there(ready: Plan, monkeypatch: pytest.MonkeyPatch, waits: list[float]) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(NetworkError, match=r"^the Hub cannot be reached for 'somebody/clips': "):
        push(ready, NAME)
    assert len(waits) == 5


def test_a_hub_that_keeps_other_bytes_is_found_out(hub: HubServer, ready: Plan) -> None:
    sha256 = ready.sha256["truth/c1.mp4"].encode()
    hub.spoil("GET", "/tree/", change=lambda data: data.replace(sha256, b"0" * 64), times=99)
    with pytest.raises(VerifyError, match=r"'somebody/clips' does not hold what was sent: truth/c1.mp4 differ"):
        push(ready, NAME)


def everything_said(error: BaseException | None, *, seen: set[int]) -> str:
    """Of an exception and of all that hang on it, as a traceback or a log would show them."""
    if error is None or id(error) in seen:
        return ""
    seen.add(id(error))
    others = [everything_said(one, seen=seen) for one in (error.__cause__, error.__context__)]
    return "\n".join([str(error), repr(error), repr(vars(error)), *others])


@pytest.mark.parametrize("path", ["POST /create", "GET /tree/", "POST /preupload/", "POST /batch", "PUT /lfs/", "POST /commit/"])
@pytest.mark.parametrize("status", [401, 422])
def test_a_server_that_repeats_what_it_was_sent_never_gives_the_token_away(
    path: str, status: int, hub: HubServer, ready: Plan, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    method, path = path.split()
    said = f"topic; you sent Authorization: Bearer {TOKEN}"
    body = f'{{"error": "{said}", "warnings": [{{"message": "{said}"}}], "errors": [{{"message": "{said}"}}]}}'
    headers = {"X-HF-Warning": said, "X-Error-Message": said}
    hub.spoil(method, path, status=status, body=lambda given: body.encode(), headers=headers, times=99)
    with pytest.raises(InpaintBenchError) as raised:
        push(ready, NAME)
    assert hub.asked(method, path)
    shown = capfd.readouterr()
    told = [everything_said(raised.value, seen=set()), caplog.text, shown.out, shown.err, *(str(one.message) for one in recwarn)]
    assert "HTTP" in told[0]
    assert TOKEN not in "\n".join(told)


KILLED = """
import sys
from inpaintbench.export.publishing import push as module
from inpaintbench.export.publishing.push import plan
module._FEWEST_FILES_A_COMMIT = 2
module.push(plan(sys.argv[1], licence="CC-BY-4.0"), sys.argv[2])
"""


def test_a_push_that_was_killed_goes_on(hub: HubServer, ready: Plan) -> None:
    running: list[subprocess.Popen[bytes]] = []

    def kill_at_the_second_commit(request: Request) -> None:
        if "/commit/" in request.path and len(hub.asked("POST", "/commit/")) == 2:
            hub.spoil("POST", "/commit/")
            running[0].kill()

    hub.on_request = kill_at_the_second_commit
    running.append(subprocess.Popen([sys.executable, "-c", KILLED, str(ready.folder), NAME]))
    assert running[0].wait(timeout=60) == -9
    hub.on_request = lambda request: None
    assert len(hub.files(NAME)) == 2
    stored = set(hub.stored)
    assert len(stored) == 4  # two of them in no commit yet
    before = len(hub.seen)
    done = push(ready, NAME)
    assert (done.sent, done.there) == (18, 2)
    assert hub.files(NAME) == published(ready)
    sent = {request.path.removeprefix("/lfs/") for request in hub.seen[before:] if request.method == "PUT"}
    assert len(sent) == 8
    assert not sent & stored
