"""`curation fetch`, `recheck` and `attribution`: footage from a network, and whose it is; what `build devil` asks of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from annotated_types import Ge

from inpaintbench.cli import console
from inpaintbench.cli.build.running import Place
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import InShard, InWorkspace, OutWorkspace, Running, parse_shard
from inpaintbench.cli.options import OR_ADDRESS, Among, Natural, Positive, argument, bundle, option, read_option
from inpaintbench.curation.facts import LicenceCheck, latest_checks
from inpaintbench.download import Limits, safe_name
from inpaintbench.errors import InputError, UsageError
from inpaintbench.executors.base import Executor
from inpaintbench.files import write_atomically
from inpaintbench.recipes.options import read_size
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.table_files import csv_bytes
from inpaintbench.types import Clip, Download, Source
from inpaintbench.wings.fetch import FETCHERS
from inpaintbench.wings.fetch.base import Candidate
from inpaintbench.wings.fetch.flickr_client import connect
from inpaintbench.wings.fetch.lists import SHIPPED, read_ids
from inpaintbench.wings.fetch.recheck import notice
from inpaintbench.wings.fetch.recheck import recheck as ask_again
from inpaintbench.wings.fetch.step import TABLE, check_label, fetch, listed, listings, rows_of
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.wings.fetch.flickr import Found


fetch_app = group(
    {name: f"inpaintbench.wings.fetch.commands:{name}" for name in ("urls", "dataset", "site", "flickr")},
    help="Bring footage from a network into a workspace.",
)
_SHOWN = 20  # rows without a file that are named; the table has them all
_STATUSES = ("obtained", "gone", "refused", "failed")


@dataclass(frozen=True)
class OwnNetwork:
    """Addresses of one's own network that may be asked.

    Downloads:
        allow_private: Also from loopback, private and link-local addresses.
        allow_hosts --allow-host (NAME): Also from this host, whatever its address. May be given again.
        allow_nets --allow-net (CIDR): Also from this net: 10.1.0.0/16. May be given again.
    """

    allow_private: bool = False
    allow_hosts: list[str] | None = None
    allow_nets: list[str] | None = None

    @property
    def allowed(self) -> dict[str, Any]:
        """Those that were given, as ``Limits`` and leaves take them."""
        told = {"allow_hosts": tuple(self.allow_hosts or ()), "allow_nets": tuple(self.allow_nets or ())}
        return {"allow_private": self.allow_private, **{name: value for name, value in told.items() if value}}


@dataclass(frozen=True)
class Downloads(OwnNetwork):
    """Limits of downloads, as people give them.

    Downloads:
        most_megabytes: Largest file.
        seconds: Longest time for one file, with all tries.
        contact: How servers' owners can reach you; sent along with every question.
    """

    most_megabytes: Annotated[float, Ge(0.001)] = 4000.0
    seconds: Annotated[float, Ge(1)] = 1800.0
    contact: str = ""

    @property
    def limits(self) -> Limits:
        """The same in bytes.

        Raises:
            UsageError: a number that is not finite.
        """
        for name, value in (("--most-megabytes", self.most_megabytes), ("--seconds", self.seconds)):
            if not math.isfinite(value):
                raise UsageError(f"{name} {value} is no limit; give a number")
        return Limits(
            most_bytes=int(self.most_megabytes * 1e6), seconds=self.seconds, contact=self.contact, **self.allowed,
        )  # fmt: skip


@dataclass(frozen=True)
class OneAtATime(Running):
    """Options of fetching: one connection to a host at a time is what hosts expect of strangers.

    Running:
        workers: Files fetched at the same time; 0 = one, in this process, for debugging.
    """

    workers: Natural = 1


Limited = Annotated[Downloads, bundle(Downloads)]
Fetching = Annotated[Running, bundle(OneAtATime)]
_LIMITED, _ONE = Downloads(), OneAtATime()


@dataclass(frozen=True)
class Fetch:
    """What is asked of every fetch of a list or a dataset.

    Args:
        licence: Only footage of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again.
        label: Tells this list apart from others. [default: the list's name]
    """

    licence: list[str] | None = None
    label: str = ""
    downloads: Limited = _LIMITED
    running: Fetching = _ONE
    shard: InShard = None

    def run(
        self,
        leaf: str,
        constants: Mapping[str, Any],
        out: Path,
        *,
        label: str = "",
        candidates: Sequence[Candidate] | None = None,
    ) -> None:
        """Fetch with a leaf, and tell what came of it; the command fails where nothing was obtained, unless it is a shard."""
        limits, part, label = self.downloads.limits, parse_shard(self.shard), self.label or label
        # What cannot be listed is told before there is a folder.
        candidates = listed(leaf, constants, label=label) if candidates is None else candidates
        workspace = Workspace(out, shard=part)
        with self.running.on(workspace) as executor:
            outcome = fetch(
                executor, leaf, constants=constants, limits=limits, licences=self.licence, label=label, candidates=candidates,
                retry_refused=self.running.retry_rejected,
            )  # fmt: skip
        if self.shard is not None:
            counts = Counter(row.status for row in outcome.records) + Counter({"failed": len(outcome.rejected)})
            summary = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
            console.say(f"{summary} of shard {self.shard} in {out}; run without --shard when all are done")
            return
        rows = rows_of(workspace, leaf, label, earlier=False)
        counts = Counter(row.status for row in rows)
        missing = [(row.name, row.status, row.reason) for row in rows if row.status != "obtained"]
        if missing:
            console.print_table("Without a file", ["name", "status", "reason"], missing[:_SHOWN])
            if len(missing) > _SHOWN:
                console.say(f"and {len(missing) - _SHOWN} more")
        summary = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
        asked = {row.name for row in rows if row.status == "obtained"}
        earlier = sum(row.status == "obtained" and row.name not in asked for row in rows_of(workspace, leaf, label))
        summary += f", {earlier} of earlier calls not asked for now" if earlier else ""
        megabytes = sum(row.bytes or 0 for row in rows if row.status == "obtained") / 1e6
        console.say(f"{summary}; {megabytes:.1f} MB in {workspace.path}")
        console.tell_next("curation", "clips", "--out", workspace.path)
        if counts["refused"]:
            console.say("what was refused is tried again with --retry-rejected")
        if not counts["obtained"]:
            raise typer.Exit(1)


Fetched = Annotated[Fetch, bundle(Fetch)]
ListFile = Annotated[
    Path, argument("CSV, TSV, JSON lines or Parquet with the column url; or .txt, an address a line.", metavar="LIST")
]
Media = Annotated[str, option("video or image: what the files are.")]


def urls(list_file: ListFile, *, out: OutWorkspace, media: Media = "video", asked: Fetched = Fetch()) -> None:
    """Fetch the files whose addresses stand in a list.

    Example: inpaintbench curation fetch urls addresses.csv --out WORKSPACE --licence CC-BY
    """
    constants = {"list": str(list_file.absolute()), "media": media, **asked.downloads.allowed}
    asked.run("urls", constants, out, label=safe_name(list_file.stem))


def dataset(
    name: str, *, out: OutWorkspace, config: str | None = None, split: str = "train", column: str | None = None,
    revision: str | None = None, stated_licence: str | None = None, media: Media = "video", asked: Fetched = Fetch(),
) -> None:  # fmt: skip
    """Fetch the videos or images of a Hugging Face dataset.

    Args:
        name: Id on the Hugging Face Hub, or a folder.
        config: Configuration, where the dataset has several.
        split: Which rows.
        column: Column of videos or images. [default: the only one]
        revision: Branch, tag or commit.
        stated_licence: Where neither the rows nor the dataset's card state one.

    Example: inpaintbench curation fetch dataset OWNER/NAME --out WORKSPACE --split test --column video
    """
    folder = Path(name)
    constants = {
        "dataset": str(folder.absolute()) if folder.is_dir() else name, "config": config, "split": split, "column": column,
        "licence": stated_licence, "revision": revision, "media": media,
    }  # fmt: skip
    asked.run("hf_dataset", constants, out, label=safe_name(f"{name}.{split}"))


def site(list_file: ListFile, *, out: OutWorkspace, asked: Fetched = Fetch()) -> None:
    """Fetch the videos of web pages, as yt-dlp finds them. Needs the extra "sites".

    Example: inpaintbench curation fetch site pages.txt --out WORKSPACE --workers 2
    """
    constants = {"list": str(list_file.absolute()), **asked.downloads.allowed}
    asked.run("yt_dlp", constants, out, label=safe_name(list_file.stem))


def recheck(workspace: InWorkspace, *, running: Annotated[Running, bundle(OneAtATime, "workers")] = _ONE) -> None:
    """Ask again for the licences of all that was fetched. What they were then stays on record.

    Example: inpaintbench curation recheck WORKSPACE
    """
    opened = Workspace(workspace, create=False)
    known = listings(opened)
    if not known:
        raise InputError(f"nothing was fetched into {str(workspace)!r}; see `inpaintbench curation fetch --help`")
    checks: list[LicenceCheck] = []
    stamp = datetime.now(UTC).isoformat()  # to the microsecond: every call asks anew
    with running.on(opened) as executor:
        for source in known:
            checks += ask_again(executor, source.leaf, constants=source.constants, stamp=stamp, label=source.label)
    rows = [
        (check.fetcher, check.name, check.status, check.licence_then, check.licence_now, check.reason)
        for check in checks
        if check.status != "same"
    ]
    if rows:
        console.print_table("Not as it was", ["from", "name", "status", "licence then", "licence now", "reason"], rows)
    console.say(f"{len(checks) - len(rows)} of {len(checks)} licences are as they were")


def attribution(workspace: InWorkspace, *, out: Path | None = None) -> None:
    """Write who made the footage that became clips. With where it is and under which licence it is text for a NOTICE file.

    Args:
        out: File to write. [default: print]

    Example: inpaintbench curation attribution WORKSPACE --out NOTICE
    """
    opened = Workspace(workspace, create=False)
    used = {clip.source_id for clip in opened.table("clips", Clip)}
    sources = [row for row in opened.table("sources", Source) if not used or row.source_id in used]
    text = notice(sources, opened.table(TABLE, Download), latest_checks(opened))
    if out is None:
        console.out.print(text, markup=False, end="")
    else:
        write_atomically(out, text.encode())
        console.say(f"wrote {console.shown(out)}")


@dataclass(frozen=True)
class Search:
    """What is asked of Flickr.

    Args:
        query: Words in title, description or tags.
        ids (FILE): List of ids of single videos, instead of a search: a CSV, a text of an id a line, or devil (what that
            benchmark used).
        uploaded (FROM:TO): Years (2017:2019) or days (2017-01-01:2019-06-30); one side may be left out.
        licence: Only videos of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again. [default: BY,
            BY-SA, CC0, PDM and US government works]
        most: Videos, the first uploaded. [default: all]
    """

    query: str = ""
    ids: Annotated[str | None, Among(SHIPPED)] = None
    uploaded: str = ""
    licence: list[str] | None = None
    most: Positive | None = None


_REPORT = ("id", "status", "licence", "licence_url", "author", "title", "uploaded", "page", "reason")


def flickr(
    *,
    out: Annotated[Path | None, option("Workspace to make or go on with.", default="none: --report alone", **OR_ADDRESS)] = None,
    search: Annotated[Search, bundle(Search)] = Search(),
    user: Annotated[list[str] | None, option("User name or NSID. May be given again.", "--user", "--users")] = None,
    tag: list[str] | None = None,
    orientation: str = "",
    minimum_width: Natural = 0,
    minimum_height: Natural = 0,
    per_hour: Positive = 3600,
    report: Path | None = None,
    label: str = "",
    downloads: Limited = _LIMITED,
    running: Fetching = _ONE,
    shard: InShard = None,
) -> None:
    """Fetch videos of Flickr: by a search, or by ids.

    It needs FLICKR_API_KEY and FLICKR_API_SECRET, and the extra "flickr".

    Args:
        tag: That a video must have. May be given again.
        orientation: landscape, portrait or square. [default: any]
        minimum_width: In pixels.
        minimum_height: In pixels.
        per_hour: Questions to Flickr, by all processes with your key.
        report: CSV to write: which of them are there, and under which licence. [default: none]
        label: Tells this search apart from others in the workspace.

    Example: inpaintbench curation fetch flickr --query harbour --uploaded 2017:2019 --most 50 --out WORKSPACE
    """
    if out is None and report is None:
        raise UsageError("say where the videos go, --out WORKSPACE, or what to write of them without fetching, --report FILE")
    constants: dict[str, Any] = {
        "query": search.query, "users": user or [], "uploaded": search.uploaded, "licences": search.licence or [],
        "tags": tag or [], "orientation": orientation, "minimum_width": minimum_width, "minimum_height": minimum_height,
        "most": search.most, "per_hour": per_hour, **({"ids": list(read_ids(search.ids))} if search.ids else {}),
    }  # fmt: skip
    leaf: Any = FETCHERS.get("flickr")(**constants)
    check_label(label)
    single = len(constants.get("ids", ())[: search.most])
    found: list[Found] = []
    if single:
        with console.progress() as told:
            for one in leaf.found():
                found.append(one)
                told("ask Flickr", len(found), single)
    else:  # a search tells beforehand of no number
        with console.busy("asking Flickr"):
            found = list(leaf.found())
    if report is not None:
        _report_on(found, report)
    if out is not None:
        # The leaf keeps to the licences itself: it knows Flickr's names for them, and what may be passed on where none is named.
        asked = Fetch(label=label, downloads=downloads, running=running, shard=shard)
        asked.run("flickr", constants, out, candidates=[one.candidate for one in found])


def _report_on(found: Sequence[Found], path: Path) -> None:
    """Write which videos are there and under which licence."""
    rows = []
    for one in found:
        candidate = one.candidate
        facts = (candidate.licence, candidate.licence_url, candidate.author, candidate.title, candidate.details.get("uploaded"))
        rows.append([candidate.name, one.status, *facts, candidate.page_url, candidate.refused])
    write_atomically(path, csv_bytes(_REPORT, rows, errors="replace"))
    counts = Counter((one.status, one.candidate.licence or "-") for one in found)
    console.print_table("On Flickr now", ["status", "licence", "videos"], [(*key, counts[key]) for key in sorted(counts)])
    there = sum(one.status == "there" for one in found)
    console.say(f"{there} of {len(found)} are there under a licence that was asked for: {console.shown(path)}")


@dataclass(frozen=True)
class WhatIsFetched(Place):
    """What `curation fetch` brought into the workspace."""

    def source(self, out: Path) -> SourceSpec:
        """Everything that was fetched."""
        return SourceSpec("fetched", {"workspace": str(out)})


@dataclass(frozen=True)
class FlickrSearch(Search, Place):
    """The search of Flickr: what is asked for, and how.

    Args:
        users: User name or NSID. May be given again.
        least (WxH): Smallest pictures.
        contact: How servers' owners can reach you; sent along with every question.
    """

    panel: ClassVar[str | None] = "Flickr"

    users: list[str] | None = None
    least: str = "1920x1080"
    contact: str = ""
    network: Annotated[OwnNetwork, bundle(OwnNetwork, panel="Flickr")] = OwnNetwork()

    @property
    def asked(self) -> list[str]:
        """The options of the search that were given."""
        return [name for name in ("query", "users", "ids", "uploaded", "licence", "most") if getattr(self, name)]

    @property
    def least_size(self) -> tuple[int, int]:
        """Of the pictures that are searched for."""
        return read_option(read_size, self.least)

    def check(self) -> None:
        """Flickr has no list of everything."""
        if not (self.query or self.users or self.ids):
            raise UsageError("--source flickr needs --query WORDS, --users NAME or --ids FILE")

    def source(self, out: Path) -> SourceSpec:
        """What was fetched from Flickr."""
        return SourceSpec("fetched", {"workspace": str(out), "fetcher": "flickr"})

    def fetching(self) -> Callable[[Executor], object]:
        """The step that fetches; what is wrong with the question or the key is told first."""
        width, height = self.least_size
        question: dict[str, Any] = {
            "query": self.query, "users": self.users or [], "uploaded": self.uploaded, "licences": self.licence or [],
            "orientation": "landscape", "most": self.most, "minimum_width": width, "minimum_height": height,
            **({"ids": list(read_ids(self.ids))} if self.ids else {}),
        }  # fmt: skip
        FETCHERS.get("flickr")(**question)
        connect()
        limits = Limits(contact=self.contact, **self.network.allowed)
        return partial(fetch, leaf_name="flickr", constants=question, limits=limits)
