"""`curation fetch`, `recheck` and `attribution`: footage from a network, and whose it is."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inpaintbench.cli import console
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import RUNNING, InShard, InWorkspace, OutWorkspace, Running, parse_shard
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import argument, bundle, option
from inpaintbench.curation.downloads import LicenceCheck, latest_checks
from inpaintbench.download import Limits, safe_name
from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically
from inpaintbench.types import Clip, Download, Source
from inpaintbench.wings.fetch import FETCHERS
from inpaintbench.wings.fetch.base import Candidate
from inpaintbench.wings.fetch.flickr_ids import SHIPPED, read_ids
from inpaintbench.wings.fetch.listings import listings
from inpaintbench.wings.fetch.recheck import notice
from inpaintbench.wings.fetch.recheck import recheck as ask_again
from inpaintbench.wings.fetch.step import TABLE, check_label, fetch, listed, rows_of
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.wings.fetch.flickr import Found

fetch_app = group(
    {
        "urls": "inpaintbench.wings.fetch.commands:urls",
        "dataset": "inpaintbench.wings.fetch.commands:dataset",
        "site": "inpaintbench.wings.fetch.commands:site",
        "flickr": "inpaintbench.wings.fetch.commands:flickr",
    },
    help="Bring footage from a network into a workspace.",
)
_SHOWN = 20  # rows without a file that are named; the table has them all
_STATUSES = ("obtained", "gone", "refused", "failed")
_DOWNLOADS = "Downloads"

Licences = Annotated[
    list[str] | None,
    option("Only footage of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again.", "--licence"),
]
AllowPrivate = Annotated[
    bool, option("Also from loopback, private and link-local addresses.", "--allow-private", panel=_DOWNLOADS)
]
AllowHosts = Annotated[
    list[str] | None,
    option("Also from this host, whatever its address. May be given again.", "--allow-host", metavar="NAME", panel=_DOWNLOADS),
]
AllowNets = Annotated[
    list[str] | None,
    option("Also from this net: 10.1.0.0/16. May be given again.", "--allow-net", metavar="CIDR", panel=_DOWNLOADS),
]
Contact = Annotated[str, option("How servers' owners can reach you; sent along with every question.", panel=_DOWNLOADS)]
ListFile = Annotated[
    Path, argument("CSV, TSV, JSON lines or Parquet with the column url; or .txt, an address a line.", metavar="LIST")
]
Label = Annotated[str, option("Tells this list apart from others.", default="the list's name")]
Media = Annotated[str, option("video or image: what the files are.")]


@dataclass(frozen=True)
class OwnNetwork:
    """Addresses of one's own network that may be asked."""

    allow_private: AllowPrivate = False
    allow_hosts: AllowHosts = None
    allow_nets: AllowNets = None

    @property
    def allowed(self) -> dict[str, Any]:
        """Those that were given, as ``Limits`` and leaves take them."""
        told = {"allow_hosts": tuple(self.allow_hosts or ()), "allow_nets": tuple(self.allow_nets or ())}
        return {"allow_private": self.allow_private, **{name: value for name, value in told.items() if value}}


@dataclass(frozen=True)
class Downloads(OwnNetwork):
    """Limits of downloads, as people give them."""

    most_megabytes: Annotated[float, option("Largest file.", min=0.001, panel=_DOWNLOADS)] = 4000.0
    seconds: Annotated[float, option("Longest time for one file, with all tries.", min=1, panel=_DOWNLOADS)] = 1800.0
    contact: Contact = ""

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
    """Options of fetching: one connection to a host at a time is what hosts expect of strangers."""

    workers: Annotated[
        int, option("Files fetched at the same time; 0 = one, in this process, for debugging.", min=0, panel=RUNNING)
    ] = 1


Limited = Annotated[Downloads, bundle(Downloads)]
Fetching = Annotated[Running, bundle(OneAtATime)]


def urls(
    list_file: ListFile,
    out: OutWorkspace,
    media: Media = "video",
    licence: Licences = None,
    label: Label = "",
    downloads: Limited = Downloads(),
    running: Fetching = OneAtATime(),
    shard: InShard = None,
) -> None:
    """Fetch the files whose addresses stand in a list.

    Example: inpaintbench curation fetch urls addresses.csv --out WORKSPACE --licence CC-BY
    """
    constants = {"list": str(list_file.absolute()), "media": media, **downloads.allowed}
    label = label or safe_name(list_file.stem)
    run("urls", constants, out, limits=downloads.limits, licences=licence, label=label, running=running, shard=shard)


def dataset(
    name: Annotated[str, argument("Id on the Hugging Face Hub, or a folder.")],
    out: OutWorkspace,
    config: Annotated[str | None, option("Configuration, where the dataset has several.")] = None,
    split: Annotated[str, option("Which rows.")] = "train",
    column: Annotated[str | None, option("Column of videos or images.", default="the only one")] = None,
    revision: Annotated[str | None, option("Branch, tag or commit.")] = None,
    stated_licence: Annotated[str | None, option("Where neither the rows nor the dataset's card state one.")] = None,
    media: Media = "video",
    licence: Licences = None,
    label: Label = "",
    downloads: Limited = Downloads(),
    running: Fetching = OneAtATime(),
    shard: InShard = None,
) -> None:
    """Fetch the videos or images of a Hugging Face dataset.

    Example: inpaintbench curation fetch dataset OWNER/NAME --out WORKSPACE --split test --column video
    """
    folder = Path(name)
    constants = {
        "dataset": str(folder.absolute()) if folder.is_dir() else name, "config": config, "split": split, "column": column,
        "licence": stated_licence, "revision": revision, "media": media,
    }  # fmt: skip
    label = label or safe_name(f"{name}.{split}")
    run("hf_dataset", constants, out, limits=downloads.limits, licences=licence, label=label, running=running, shard=shard)


def site(
    list_file: ListFile,
    out: OutWorkspace,
    licence: Licences = None,
    label: Label = "",
    downloads: Limited = Downloads(),
    running: Fetching = OneAtATime(),
    shard: InShard = None,
) -> None:
    """Fetch the videos of web pages, as yt-dlp finds them. Needs the extra "sites".

    Example: inpaintbench curation fetch site pages.txt --out WORKSPACE --workers 2
    """
    constants = {"list": str(list_file.absolute()), **downloads.allowed}
    label = label or safe_name(list_file.stem)
    run("yt_dlp", constants, out, limits=downloads.limits, licences=licence, label=label, running=running, shard=shard)


def run(
    leaf: str, constants: Mapping[str, Any], out: Path, *, limits: Limits, licences: Sequence[str] | None, label: str,
    running: Running, shard: str | None = None, candidates: Sequence[Candidate] | None = None,
) -> None:  # fmt: skip
    """Fetch with a leaf, and tell what came of it; the command fails where nothing was obtained, unless it is a shard."""
    part = parse_shard(shard)
    # What cannot be listed is told before there is a folder.
    candidates = listed(leaf, constants, label=label) if candidates is None else candidates
    workspace = Workspace(out, shard=part)
    with running.on(workspace) as executor:
        outcome = fetch(
            executor, leaf, constants=constants, limits=limits, licences=licences, label=label, candidates=candidates,
            retry_refused=running.retry_rejected,
        )  # fmt: skip
    if shard is not None:
        counts = Counter(row.status for row in outcome.records) + Counter({"failed": len(outcome.rejected)})
        summary = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
        console.say(f"{summary} of shard {shard} in {out}; run without --shard when all are done")
        return
    _tell(workspace, leaf, label)


def _tell(workspace: Workspace, leaf: str, label: str) -> None:
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


def recheck(workspace: InWorkspace, running: Annotated[Running, bundle(OneAtATime, "workers")] = OneAtATime()) -> None:
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
    same = sum(check.status == "same" for check in checks)
    console.say(f"{same} of {len(checks)} licences are as they were")


def attribution(workspace: InWorkspace, out: Annotated[Path | None, option("File to write.", default="print")] = None) -> None:
    """Write who made the footage that became clips. With where it is and under which licence it is text for a NOTICE file.

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


FlickrLicences = Annotated[
    list[str] | None,
    option(
        "Only videos of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again.",
        "--licence", default="BY, BY-SA, CC0, PDM and US government works",
    ),
]  # fmt: skip
Query = Annotated[str, option("Words in title, description or tags.")]
Uploaded = Annotated[
    str, option("Years (2017:2019) or days (2017-01-01:2019-06-30); one side may be left out.", metavar="FROM:TO")
]
Most = Annotated[int | None, option("Videos, the first uploaded.", default="all", min=1)]


Ids = Annotated[
    str | None,
    option(
        "List of ids of single videos, instead of a search: a CSV, a text of an id a line, or devil (what that benchmark used).",
        among=SHIPPED, metavar="FILE",
    ),
]  # fmt: skip
_REPORT = ("id", "status", "licence", "licence_url", "author", "title", "uploaded", "page", "reason")


def flickr(
    out: Annotated[Path | None, option("Workspace to make or go on with.", default="none: --report alone")] = None,
    query: Query = "",
    user: Annotated[list[str] | None, option("User name or NSID. May be given again.", "--user", "--users")] = None,
    ids: Ids = None,
    uploaded: Uploaded = "",
    licence: FlickrLicences = None,
    tag: Annotated[list[str] | None, option("That a video must have. May be given again.")] = None,
    orientation: Annotated[str, option("landscape, portrait or square.", default="any")] = "",
    minimum_width: Annotated[int, option("In pixels.", min=0)] = 0,
    minimum_height: Annotated[int, option("In pixels.", min=0)] = 0,
    most: Most = None,
    per_hour: Annotated[int, option("Questions to Flickr, by all processes with your key.", min=1)] = 3600,
    report: Annotated[
        Path | None, option("CSV to write: which of them are there, and under which licence.", default="none")
    ] = None,
    label: Annotated[str, option("Tells this search apart from others in the workspace.")] = "",
    downloads: Limited = Downloads(),
    running: Fetching = OneAtATime(),
    shard: InShard = None,
) -> None:
    """Fetch videos of Flickr: by a search, or by ids.

    It needs FLICKR_API_KEY and FLICKR_API_SECRET, and the extra "flickr".

    Example: inpaintbench curation fetch flickr --query harbour --uploaded 2017:2019 --most 50 --out WORKSPACE
    """
    if out is None and report is None:
        raise UsageError("say where the videos go, --out WORKSPACE, or what to write of them without fetching, --report FILE")
    constants: dict[str, Any] = {
        "query": query, "users": user or [], "uploaded": uploaded, "licences": licence or [], "tags": tag or [],
        "orientation": orientation, "minimum_width": minimum_width, "minimum_height": minimum_height, "most": most,
        "per_hour": per_hour, **({"ids": list(read_ids(ids))} if ids else {}),
    }  # fmt: skip
    leaf: Any = FETCHERS.get("flickr")(**constants)
    check_label(label)
    found = _asked(leaf, count=len(constants.get("ids", ())[:most]))
    if report is not None:
        _report_on(found, report)
    if out is not None:
        # The leaf keeps to the licences itself: it knows Flickr's names for them, and what may be passed on where none is named.
        run(
            "flickr", constants, out, limits=downloads.limits, licences=None, label=label, running=running, shard=shard,
            candidates=[one.candidate for one in found],
        )  # fmt: skip


def _asked(leaf: Any, *, count: int) -> list[Found]:
    """What Flickr answers: of ``count`` single videos, or of a search, which tells beforehand of no number."""
    if not count:
        with console.busy("asking Flickr"):
            return list(leaf.found())
    found: list[Found] = []
    with console.progress() as told:
        for one in leaf.found():
            found.append(one)
            told("ask Flickr", len(found), count)
    return found


def _report_on(found: Sequence[Found], path: Path) -> None:
    """Write which videos are there and under which licence."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_REPORT)
    for one in found:
        candidate = one.candidate
        facts = (candidate.licence, candidate.licence_url, candidate.author, candidate.title, candidate.details.get("uploaded"))
        rows.writerow([candidate.name, one.status, *facts, candidate.page_url, candidate.refused])
    write_atomically(path, text.getvalue().encode())
    counts = Counter((one.status, one.candidate.licence or "-") for one in found)
    console.print_table("On Flickr now", ["status", "licence", "videos"], [(*key, counts[key]) for key in sorted(counts)])
    there = sum(one.status == "there" for one in found)
    console.say(f"{there} of {len(found)} are there under a licence that was asked for: {console.shown(path)}")
