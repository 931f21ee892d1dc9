"""Media from a bucket or a CDN: real server, real S3 server, real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import fsspec
import pytest
from annotated_server import served
from object_server import ObjectServer, object_server
from program import run_here
from studies_made import write_study
from tests.annotate.app.browser.conftest import Tab

from inpaintbench.annotate import study as studies
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.media import check_there, where_of
from inpaintbench.errors import InputError
from inpaintbench.storage import Address, listed

PAIRS = [{"leaf": "pairwise", "must_watch": False}]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server("films") as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield made


def invitation(folder: Path, study_id: str) -> str:
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(study_id, title="A study")
        people = People(journal)
        return people.invite(study_id, people.add(study_id, "ada").rater_id)


def work(browser: Any, address: str, secret: str) -> Tab:
    """Answer two tasks; the page complains of nothing."""
    tab = Tab(browser, address, None, secret, {})  # type: ignore[arg-type] # no stand-in's desk
    tab.context.set_default_timeout(30_000)
    for _ in range(2):
        tab.wait("page.card && clock.media?.state === 'ready' && !page.stage.form.locked", seconds=30)
        lease = tab.ask("page.card.lease_id")
        tab.press("1")
        tab.wait(f"page.card?.lease_id !== {lease!r} && page.outbox.size === 0", seconds=30)
    assert tab.complaints == []
    return tab


def test_signed_addresses_of_a_bucket_are_given_to_those_who_hold_the_task(
    bucket: ObjectServer, browser: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    made = write_study(folder, PAIRS, subjects=3, media={"address": "s3://films/a study", "minutes": 5})
    with pytest.raises(InputError, match=r"s3://films/a study lacks 9 of the study's files, first [0-9a-f]{32}\.mp4; `inpaint"):
        check_there(made, folder)
    for sent in (9, 0):
        assert run_here("annotate", "upload", folder).stdout.startswith(f"{sent} file")
    names = [entry.name for entry in listed(Address("s3", "films/a study"))]
    assert names == sorted(made.proxies)
    assert not any(method in name for name in names for method in ("deep", "flow", "patch"))
    secret = invitation(folder, made.study_id)
    with served(folder) as server:
        assert server.ask("GET", f"/media/{names[0]}").status == 401
        bucket.asked.clear()
        tab = work(browser, server.address, secret)
        shown = {url.rpartition("/")[2] for url in tab.requests if url.startswith(f"{server.address}/media/")}
        given = [urlsplit(url) for url in tab.requests if url.startswith(bucket.address)]
        tab.context.close()
    assert given  # one that was asked for may not have been led on yet
    assert {url.path.rpartition("/")[2] for url in given} <= shown <= set(made.proxies)
    for url in given:
        signed = {name.lower() for name in parse_qs(url.query)}
        assert signed & {"signature", "x-amz-signature"}
        assert signed & {"expires", "x-amz-expires"}
    # The server itself asks for no film: it would sign in a header.
    fetched = [path for method, path in bucket.asked if method == "GET" and ".mp4" in path]
    assert fetched
    assert all("ignature=" in path for path in fetched)


def test_a_cdn_is_told_by_its_own_address(bucket: ObjectServer, browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    address = f"{bucket.address}/films/behind"
    made = write_study(folder, PAIRS, subjects=3, media={"address": address})
    assert run_here("annotate", "upload", folder).returncode == 1
    assert run_here("annotate", "upload", folder, "--to", "s3://films/behind").returncode == 0
    import boto3

    policy = (
        '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::films/*"}]}'
    )
    boto3.client("s3").put_bucket_policy(Bucket="films", Policy=policy)
    secret = invitation(folder, made.study_id)
    with served(folder) as server:
        tab = work(browser, server.address, secret)
        given = [url for url in tab.requests if url.startswith(bucket.address)]
        tab.context.close()
    assert given
    assert all(url.startswith(f"{address}/") and "?" not in url for url in given)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [("films", "is a path on this machine"), ("ftp://host/films", "of no kind known here"), ("s3://k:s@films", "credentials")],
)
def test_what_is_no_address_of_media_is_told(address: str, sentence: str, tmp_path: Path) -> None:
    made = write_study(tmp_path / "study", PAIRS, subjects=1, media={"address": address})
    with pytest.raises(InputError, match=sentence):
        where_of(made)
    assert studies.load(tmp_path / "study") == made


def test_a_store_that_signs_nothing_is_told(tmp_path: Path) -> None:
    made = write_study(tmp_path / "study", PAIRS, subjects=1, media={"address": "memory://films"})
    where: Callable[[str], str] | None = where_of(made)
    assert where is not None
    with pytest.raises(InputError, match="signs no addresses"):
        where("a.mp4")
