"""NOTICE text and the licences it names."""

from __future__ import annotations

import pytest

from inpaintbench.curation.facts import LicenceCheck, uri_of
from inpaintbench.types import Download, Source
from inpaintbench.wings.fetch.base import is_allowed, text_url
from inpaintbench.wings.fetch.recheck import notice


def row(name: str, licence: str | None, **more: str) -> Download:
    return Download(
        name=name, fetcher="urls", url=f"https://a.test/{name}", final_url=None, status="obtained", reason=None, http_status=200,
        tries=1, bytes=1, sha256="0", etag=None, media_type=None, blob="0.mp4", retrieved_at=None, licence=licence, **more,
    )  # fmt: skip


def source(name: str, licence: str | None, author: str | None = None, page: str | None = None) -> Source:
    return Source(f"id-{name}", name, "0", 1, "folder", licence, author, page)


def test_footage_is_grouped_by_its_licence() -> None:
    beach = row(
        "be ach.mp4", "CC-BY-2.0", author="Ann", page_url="https://page.test/1", title="A\nbeach", licence_url="https://l.test"
    )
    wood = row("wood.mp4", "CC0-1.0")
    used = [
        source("my%20own.mp4", None),
        source(uri_of(wood.fetcher, wood.name), "CC0-1.0"),
        source(uri_of(beach.fetcher, beach.name), "CC-BY-2.0", "Ann", "https://page.test/1"),
    ]
    text = notice(used, [beach, wood, row("unused.mp4", "CC0-1.0")])
    assert text == (
        "NOTICE\n\nMaterial by others, changed where it is said: cut, scaled, re-encoded.\n\n"
        "CC-BY-2.0\n---------\nhttps://l.test\n\n"
        "* A beach by Ann\n  https://page.test/1\n  Changes: cut, scaled, re-encoded.\n\n"
        "CC0-1.0\n-------\nhttps://creativecommons.org/publicdomain/zero/1.0/\n\n"
        "* urls/wood.mp4 (author not stated)\n  Changes: cut, scaled, re-encoded.\n\n"
        "No licence stated\n-----------------\n"
        "The files below state no licence. Ask their authors before passing them on.\n\n"
        "* my own.mp4 (author not stated)\n"
    )


def test_before_anything_is_used_all_that_was_obtained_is_named() -> None:
    gone = Download(**{**row("gone.mp4", "CC0-1.0").__dict__, "status": "gone"})
    text = notice([], [row("b.mp4", "CC0-1.0"), row("a.mp4", "CC0-1.0"), gone])
    assert text.index("a.mp4") < text.index("b.mp4")
    assert "gone.mp4" not in text


def test_nothing_that_others_wrote_can_pass_for_an_entry() -> None:
    forged = {
        "author": "Ann\n* my own.mp4 by Bob", "title": "A\r\nB\u2028C", "page_url": "https://a.test\n* p", "licence_url": "x\ny",
    }  # fmt: skip
    text = notice([], [row("a.mp4", "CC0-1.0\n* l by Eve", **forged)])
    assert [line for line in text.split("\n") if line.startswith("*")] == ["* A B C by Ann * my own.mp4 by Bob"]
    assert "  https://a.test * p\n" in text
    assert "\nCC0-1.0 * l by Eve\n" in text
    assert "\nx y\n" in text


def test_what_was_learnt_of_a_licence_later_is_said() -> None:
    def check(status: str, now: str | None) -> LicenceCheck:
        return LicenceCheck("a.mp4", "urls", status, None, "CC0-1.0", now, None, checked_at="2026-01-02T03:04:05Z")

    for found, words in (
        (check("changed", "CC-BY-ND-4.0"), "changed to CC-BY-ND-4.0 (2026-01-02T03:04:05Z)"),
        (check("gone", None), "gone (2026-01-02T03:04:05Z)"),
    ):
        told = f"  Licence when asked again: {words}.\n"
        fetched = row("a.mp4", "CC0-1.0")
        assert told in notice([], [fetched], {"urls/a.mp4": found})
        assert told in notice([source("urls/a.mp4", "CC0-1.0")], [fetched], {"urls/a.mp4": found})
    assert "asked again" not in notice([], [row("a.mp4", "CC0-1.0")], {"urls/a.mp4": check("same", "CC0-1.0")})


def test_order_does_not_matter() -> None:
    used = [source(f"{number}.mp4", licence) for number in range(3) for licence in ("CC0-1.0", None, "CC-BY-4.0")]
    assert notice(used, []) == notice(used[::-1], [])


@pytest.mark.parametrize(
    ("licence", "licences", "allowed"),
    [
        ("CC-BY-2.0", ["CC-BY"], True), ("cc by 2.0", ["CC-BY-2.0"], True), ("CC-BY", ["CC-BY"], True),
        ("CC-BY-SA-2.0", ["CC-BY"], False), ("CC-BY-4.0", ["CC-BY-2.0"], False), ("CC-BY-2.0.1", ["CC-BY-2"], False),
        ("CCXBY-2.0", ["CC.BY"], False), (None, ["CC0"], False), (None, None, True), ("CC0-1.0", [], False),
    ],
)  # fmt: skip
def test_a_name_without_a_version_stands_for_every_version(
    licence: str | None, licences: list[str] | None, allowed: bool
) -> None:
    assert is_allowed(licence, licences) is allowed


@pytest.mark.parametrize(
    ("licence", "url"),
    [
        ("CC-BY-NC-SA-4.0", "https://creativecommons.org/licenses/by-nc-sa/4.0/"),
        ("cc by nd 2.0", "https://creativecommons.org/licenses/by-nd/2.0/"),
        ("CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("PDM-1.0", "https://creativecommons.org/publicdomain/mark/1.0/"),
        ("MIT", None), ("CC-BY", None),
    ],
)  # fmt: skip
def test_texts_of_creative_commons_licences_are_known(licence: str, url: str | None) -> None:
    assert text_url(licence) == url
