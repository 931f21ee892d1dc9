"""`curation fetch`, `recheck` and `attribution`: footage from a network, and whose it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench.cli import console
from inpaintbench.cli.console import InShard, MaxFailures, Memory, Ray, RetryRejected, Running, parse_shard
from inpaintbench.cli.exits import UsageError
from inpaintbench.curation.fetching.attribution import notice
from inpaintbench.curation.fetching.listings import listings
from inpaintbench.curation.fetching.recheck import LicenceCheck, latest_checks
from inpaintbench.curation.fetching.recheck import recheck as ask_again
from inpaintbench.curation.fetching.step import TABLE, fetch, listed, rows_of
from inpaintbench.download import Limits, safe_name
from inpaintbench.errors import InputError
from inpaintbench.types import Clip, Download, Source
from inpaintbench.workspace import Workspace, write_atomically

fetch_app = typer.Typer(no_args_is_help=True, help="Bring footage from a network into a workspace.")
_SHOWN = 20  # rows without a file that are named; the table has them all
_STATUSES = ("obtained", "gone", "refused", "failed")
_ONE = 1  # one connection to a host at a time is what hosts expect of strangers

Workers = Annotated[int, typer.Option(min=0, help="Files fetched at the same time; 0 = one, in this process, for debugging.")]
Out = Annotated[Path, typer.Option(help="Workspace to make or go on with.")]
Licences = Annotated[
    list[str] | None,
    typer.Option(
        "--licence", help="Only footage of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again."
    ),
]
AllowPrivate = Annotated[bool, typer.Option("--allow-private", help="Also from loopback, private and link-local addresses.")]
MostMegabytes = Annotated[float, typer.Option(min=0.001, help="Largest file.")]
Seconds = Annotated[float, typer.Option(min=1, help="Longest time for one file, with all tries.")]
Contact = Annotated[str, typer.Option(help="How servers' owners can reach you; sent along with every question.")]
ListFile = Annotated[
    Path, typer.Argument(metavar="LIST", help="CSV, TSV, JSON lines or Parquet with the column url; or .txt, an address a line.")
]
Label = Annotated[str, typer.Option(help="Tells this list apart from others.", show_default="the list's name")]
Media = Annotated[str, typer.Option(help="video or image: what the files are.")]
InWorkspace = Annotated[Path, typer.Argument(help="The workspace.")]


def limits_of(*, most_megabytes: float, seconds: float, allow_private: bool, contact: str) -> Limits:
    """Limits as people give them.

    Raises:
        InputError: a number that is not finite.
    """
    for option, value in (("--most-megabytes", most_megabytes), ("--seconds", seconds)):
        if not math.isfinite(value):
            raise UsageError(f"{option} {value} is no limit; give a number")
    return Limits(most_bytes=int(most_megabytes * 1e6), seconds=seconds, allow_private=allow_private, contact=contact)


@fetch_app.command()
def urls(
    list_file: ListFile,
    out: Out,
    media: Media = "video",
    licence: Licences = None,
    label: Label = "",
    allow_private: AllowPrivate = False,
    most_megabytes: MostMegabytes = 4000.0,
    seconds: Seconds = 1800.0,
    contact: Contact = "",
    workers: Workers = _ONE,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Fetch the files whose addresses stand in a list.

    Example: inpaintbench curation fetch urls addresses.csv --out WORKSPACE --licence CC-BY
    """
    limits = limits_of(most_megabytes=most_megabytes, seconds=seconds, allow_private=allow_private, contact=contact)
    constants = {"list": str(list_file.absolute()), "media": media, "allow_private": allow_private}
    running = Running(workers, max_failures, retry_rejected, ray, memory)
    run(
        "urls",
        constants,
        out,
        limits=limits,
        licences=licence,
        label=label or safe_name(list_file.stem),
        running=running,
        shard=shard,
    )


@fetch_app.command()
def dataset(
    name: Annotated[str, typer.Argument(help="Id on the Hugging Face Hub, or a folder.")],
    out: Out,
    config: Annotated[str | None, typer.Option(help="Configuration, where the dataset has several.")] = None,
    split: Annotated[str, typer.Option(help="Which rows.")] = "train",
    column: Annotated[str | None, typer.Option(help="Column of videos or images.", show_default="the only one")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit.")] = None,
    stated_licence: Annotated[str | None, typer.Option(help="Where neither the rows nor the dataset's card state one.")] = None,
    media: Media = "video",
    licence: Licences = None,
    label: Label = "",
    allow_private: AllowPrivate = False,
    most_megabytes: MostMegabytes = 4000.0,
    seconds: Seconds = 1800.0,
    contact: Contact = "",
    workers: Workers = _ONE,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Fetch the videos or images of a Hugging Face dataset.

    Example: inpaintbench curation fetch dataset OWNER/NAME --out WORKSPACE --split test --column video
    """
    limits = limits_of(most_megabytes=most_megabytes, seconds=seconds, allow_private=allow_private, contact=contact)
    folder = Path(name)
    constants = {
        "dataset": str(folder.absolute()) if folder.is_dir() else name, "config": config, "split": split, "column": column,
        "licence": stated_licence, "revision": revision, "media": media,
    }  # fmt: skip
    running = Running(workers, max_failures, retry_rejected, ray, memory)
    run(
        "hf_dataset",
        constants,
        out,
        limits=limits,
        licences=licence,
        label=label or safe_name(f"{name}.{split}"),
        running=running,
        shard=shard,
    )


@fetch_app.command()
def site(
    list_file: ListFile,
    out: Out,
    licence: Licences = None,
    label: Label = "",
    allow_private: AllowPrivate = False,
    most_megabytes: MostMegabytes = 4000.0,
    seconds: Seconds = 1800.0,
    contact: Contact = "",
    workers: Workers = _ONE,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Fetch the videos of web pages, as yt-dlp finds them (extra "sites").

    Example: inpaintbench curation fetch site pages.txt --out WORKSPACE --workers 2
    """
    limits = limits_of(most_megabytes=most_megabytes, seconds=seconds, allow_private=allow_private, contact=contact)
    constants = {"list": str(list_file.absolute()), "allow_private": allow_private}
    running = Running(workers, max_failures, retry_rejected, ray, memory)
    run(
        "yt_dlp",
        constants,
        out,
        limits=limits,
        licences=licence,
        label=label or safe_name(list_file.stem),
        running=running,
        shard=shard,
    )


def run(
    leaf: str, constants: Mapping[str, Any], out: Path, *, limits: Limits, licences: Sequence[str] | None, label: str,
    running: Running, shard: str | None = None,
) -> None:  # fmt: skip
    """Fetch with a leaf, and tell what came of it; the command fails where nothing was obtained, unless it is a shard."""
    part = parse_shard(shard)
    # What cannot be listed is told before there is a folder.
    candidates = listed(leaf, constants, label=label)
    workspace = Workspace(out, shard=part)
    with running.on(workspace) as executor:
        outcome = fetch(
            executor, leaf, constants=constants, limits=limits, licences=licences, label=label, candidates=candidates,
            retry_refused=running.retry_rejected,
        )  # fmt: skip
    if shard is not None:
        counts = Counter(row.status for row in outcome.records) + Counter({"failed": len(outcome.rejected)})
        told = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
        console.out.print(f"{told} of shard {shard} in {out}; run without --shard when all are done", markup=False)
        return
    _tell(workspace, leaf, label)


def _tell(workspace: Workspace, leaf: str, label: str) -> None:
    rows = rows_of(workspace, leaf, label, earlier=False)
    counts = Counter(row.status for row in rows)
    missing = [(row.name, row.status, row.reason) for row in rows if row.status != "obtained"]
    if missing:
        console.print_table("Without a file", ["name", "status", "reason"], missing[:_SHOWN])
        if len(missing) > _SHOWN:
            console.out.print(f"and {len(missing) - _SHOWN} more", markup=False)
    told = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
    asked = {row.name for row in rows if row.status == "obtained"}
    earlier = sum(row.status == "obtained" and row.name not in asked for row in rows_of(workspace, leaf, label))
    told += f", {earlier} of earlier calls not asked for now" if earlier else ""
    megabytes = sum(row.bytes or 0 for row in rows if row.status == "obtained") / 1e6
    console.out.print(f"{told}; {megabytes:.1f} MB in {workspace.path}", markup=False)
    if counts["refused"]:
        console.out.print("what was refused is tried again with --retry-rejected", markup=False)
    if not counts["obtained"]:
        raise typer.Exit(1)


def recheck(workspace: InWorkspace, workers: Workers = _ONE) -> None:
    """Ask again for the licences of everything that was fetched; what they were then stays on record.

    Example: inpaintbench curation recheck WORKSPACE
    """
    opened = Workspace(workspace, create=False)
    known = listings(opened)
    if not known:
        raise InputError(f"nothing was fetched into {str(workspace)!r}; see `inpaintbench curation fetch --help`")
    checks: list[LicenceCheck] = []
    stamp = datetime.now(UTC).isoformat()  # to the microsecond: every call asks anew
    with console.running(opened, workers=workers) as executor:
        for one in known:
            checks += ask_again(executor, one.leaf, constants=one.constants, stamp=stamp, label=one.label)
    rows = [
        (check.fetcher, check.name, check.status, check.licence_then, check.licence_now, check.reason)
        for check in checks
        if check.status != "same"
    ]
    if rows:
        console.print_table("Not as it was", ["from", "name", "status", "licence then", "licence now", "reason"], rows)
    same = sum(check.status == "same" for check in checks)
    console.out.print(f"{same} of {len(checks)} licences are as they were", markup=False)


def attribution(
    workspace: InWorkspace, out: Annotated[Path | None, typer.Option(help="File to write.", show_default="print")] = None
) -> None:
    """Write who made the footage that became clips, where it is and under which licence, as text for a NOTICE file.

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
        console.out.print(f"wrote {console.shown(out)}", markup=False)
