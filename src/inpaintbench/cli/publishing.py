"""`export push` and `export fetch`: a frozen dataset to the Hugging Face Hub, and slices of one from there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.export.publishing.plan import Plan

_SHOWN = 20
Revision = Annotated[str | None, typer.Option(help="Branch of the Hub; when fetching a tag or commit too.", show_default="main")]


def push(
    dataset: Annotated[Path, typer.Argument(help="A frozen dataset.")],
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Dataset of the Hub; made where there is none.")],
    public: Annotated[bool, typer.Option("--public", help="Show it to everybody; otherwise a new one is private.")] = False,
    licence: Annotated[
        str | None, typer.Option(metavar="SPDX", help="Licence of the sources that say nothing of theirs, such as CC-BY-4.0.")
    ] = None,
    licences: Annotated[
        Path | None, typer.Option(help="CSV with the columns source (id, URI or name) and licence, for single sources.")
    ] = None,
    publish_held_back: Annotated[
        bool, typer.Option("--publish-held-back", help="Show the truth of a challenge to everybody, with --public.")
    ] = False,
    revision: Revision = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would go, and send nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Upload a frozen dataset to the Hugging Face Hub, after its hashes and licences are checked.

    The token is that of HF_TOKEN or `hf auth login`. A push that was stopped goes on when it is called again.

    Example: inpaintbench export push WORKSPACE/exports/devil --repo OWNER/NAME --dry-run
    """
    from inpaintbench.export.publishing.client import check_name
    from inpaintbench.export.publishing.plan import plan
    from inpaintbench.export.publishing.push import push as upload

    check_name(repo)
    made = plan(dataset, licence=licence, licences=licences)
    obstacles = [*_of_truth(made, public and not publish_held_back), *made.obstacles()]
    if dry_run:
        if as_json:
            print_json(_planned(made, repo, obstacles, public=public))
        else:
            _print_plan(made, repo, public=public)
    if obstacles:
        raise InputError("; ".join(obstacles))
    if dry_run:
        return
    with console.progress() as told:
        done = upload(made, repo, public=public, revision=revision, told=told)
    if as_json:
        print_json(done)
        return
    seen = "private" if done.private else "public"
    console.out.print(
        f"{done.url}: {seen}, {done.sent} files sent, {done.there} there already, {done.removed} old ones removed", markup=False
    )
    if public and done.private:
        console.out.print("It was private before and stays so; its settings on the Hub change that.", markup=False)


def fetch(
    repo: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Dataset of the Hub.")],
    to: Annotated[Path, typer.Option(help="New folder.")],
    slices: Annotated[
        list[str] | None, typer.Option("--slice", metavar="NAME", help="Only this slice; may be given again.", show_default="all")
    ] = None,
    revision: Revision = None,
    as_json: AsJson = False,
) -> None:
    """Download a frozen dataset from the Hugging Face Hub, whole or some slices, and check the SHA-256 of every file.

    A fetch that was stopped goes on when it is called again.

    Example: inpaintbench export fetch OWNER/NAME --to data/devil --slice size-low
    """
    from inpaintbench.export.publishing.fetch import fetch as download

    with console.progress() as told:
        done = download(repo, to, slices=slices or (), revision=revision, told=told)
    if as_json:
        names = [part.name for part in done.dataset.slices]
        print_json(
            {"folder": done.folder, "repository": repo, "commit": done.commit, "items": len(done.dataset.items)}
            | {"slices": names, "missing": done.missing}
        )
        return
    console.out.print(
        f"{len(done.dataset.items)} items in {len(done.dataset.slices)} slices of {repo} at {done.commit[:12]}: {done.folder}",
        markup=False,
    )
    if done.missing:
        console.out.print(f"Not fetched: {', '.join(done.missing)}", markup=False)


def _of_truth(made: Plan, shown: bool) -> list[str]:
    """Why the truth of a challenge is not shown to everybody."""
    told = made.dataset.facts.get("truth_of")
    if not (told and shown):
        return []
    return [
        f"{made.dataset.name!r} is the truth that {told['dataset']!r} holds back; push it without --public, or with "
        "--publish-held-back once the challenge is over"
    ]


def _planned(made: Plan, repo: str, obstacles: list[str], *, public: bool) -> dict[str, object]:
    return {
        "repository": repo,
        "public": public,
        "files": [{"path": name, "size": made.bytes[name], "sha256": made.sha256[name]} for name in sorted(made.bytes)],
        "bytes": sum(made.bytes.values()),
        "configs": {part.name: len(part.item_ids) for part in made.dataset.slices},
        "licences": made.licences(),
        "licences_stated_over": made.stated_over(),
        "obstacles": obstacles,
    }


def _print_plan(made: Plan, repo: str, *, public: bool) -> None:
    per_folder: dict[str, list[int]] = {}
    for name, size in made.bytes.items():
        folder, slash, _ = name.rpartition("/")
        per_folder.setdefault(folder + slash or "cards, rows and manifest", []).append(size)
    rows = [[folder, len(sizes), sum(sizes)] for folder, sizes in sorted(per_folder.items())]
    console.print_table(f"To {repo}, {'public' if public else 'private'}", ["files of", "files", "bytes"], rows)
    console.print_table("Configs", ["config", "items"], [[part.name, len(part.item_ids)] for part in made.dataset.slices])
    console.print_table("Licences", ["licence", "sources"], [list(pair) for pair in made.licences().items()])
    if over := made.stated_over():
        stated = [[old, licence, count] for old, new in over.items() for licence, count in new.items()]
        console.print_table("Stated over what the dataset says", ["the dataset says", "you state", "sources"], stated)
    console.print_table("Files", ["file", "bytes"], [[name, made.bytes[name]] for name in sorted(made.bytes)[:_SHOWN]])
    if (more := len(made.bytes) - _SHOWN) > 0:
        console.out.print(f"and {more} more files; --json prints them all", markup=False)
    total = sum(made.bytes.values())
    console.out.print(f"{len(made.bytes)} files, {total} bytes; nothing was sent", markup=False)
