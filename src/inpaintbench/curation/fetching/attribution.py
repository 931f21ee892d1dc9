"""The NOTICE text that goes with footage by others: who made it, where it is, under which licence, and what was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import unquote

from inpaintbench.curation.fetching.licences import text_url
from inpaintbench.curation.fetching.listings import uri_of
from inpaintbench.curation.fetching.recheck import LicenceCheck
from inpaintbench.types import Download, Source

CHANGES = "cut, scaled, re-encoded"
_WITHOUT = "No licence stated"
_WITHOUT_NOTE = "The files below state no licence. Ask their authors before passing them on."


@dataclass(frozen=True)
class _Work:
    licence: str | None
    licence_url: str | None
    title: str | None
    author: str | None
    page_url: str | None
    since: str | None = None
    """What upstream said later of the licence, where that is not the same."""

    def lines(self) -> list[str]:
        by = f"by {self.author}" if self.author else "(author not stated)"
        changes = [] if self.licence is None else [f"  Changes: {CHANGES}."]
        asked = [f"  Licence when asked again: {self.since}."] if self.since else []
        page = [f"  {self.page_url}"] if self.page_url else []
        return [f"* {self.title or '(untitled)'} {by}", *page, *changes, *asked]

    def on_one_line(self) -> _Work:
        """Without line breaks, which would let what others wrote pass for entries of ours."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _Work(**{name: " ".join(text.split()) or None if text else text for name, text in texts.items()})


def notice(sources: Sequence[Source], downloads: Sequence[Download], checks: Mapping[str, LicenceCheck] = {}) -> str:
    """NOTICE text, grouped by licence in name order, with what states none at the end.

    Args:
        sources: the footage in use; where there is none yet, everything obtained is named.
        downloads: the ledger of what was fetched, for titles and the addresses of licences.
        checks: as ``latest_checks`` gives them.
    """
    obtained = [row for row in downloads if row.status == "obtained"]
    ledger = {(uri_of(row.fetcher, row.name), row.licence): row for row in obtained}
    works = [_of_source(source, ledger.get((source.uri, source.licence)), checks.get(source.uri)) for source in sources]
    works = works or [_of_download(row, checks.get(uri)) for (uri, _), row in ledger.items()]
    works = [work.on_one_line() for work in works]
    groups: dict[tuple[bool, str, str], list[_Work]] = {}
    for work in works:
        url = work.licence_url or (text_url(work.licence) if work.licence else None)
        groups.setdefault((work.licence is None, work.licence or _WITHOUT, url or ""), []).append(work)
    parts = [f"NOTICE\n\nMaterial by others, changed where it is said: {CHANGES}.\n"]
    for (missing, licence, url), members in sorted(groups.items()):
        heading = [licence, "-" * len(licence), *([url] if url else []), *([_WITHOUT_NOTE] if missing else [])]
        lines = [
            line for work in sorted(members, key=lambda work: (work.title or "", work.page_url or "")) for line in work.lines()
        ]
        parts.append("\n".join([*heading, "", *lines]) + "\n")
    return "\n".join(parts)


def _of_source(source: Source, row: Download | None, check: LicenceCheck | None) -> _Work:
    title = (row.title if row else None) or unquote(source.uri)
    return _Work(source.licence, row.licence_url if row else None, title, source.author, source.page_url, _since(check))


def _of_download(row: Download, check: LicenceCheck | None) -> _Work:
    return _Work(row.licence, row.licence_url, row.title or row.name, row.author, row.page_url, _since(check))


def _since(check: LicenceCheck | None) -> str | None:
    return f"{check.words} ({check.checked_at})" if check and check.words else None
