"""`export push` and `export fetch`: a frozen dataset to the Hugging Face Hub, and slices of one from there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.options import argument, option
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.export.publishing.plan import Plan

_SHOWN = 20
Revision = Annotated[str | None, option("Branch of the Hub; when fetching a tag or commit too.", default="main")]


def push(
    dataset: Annotated[Path, argument("A frozen dataset.")],
    repo: Annotated[str, option("Dataset of the Hub; made where there is none.", metavar="OWNER/NAME")],
    public: Annotated[bool, option("Show it to everybody; otherwise a new one is private.", "--public")] = False,
    licence: Annotated[
        str | None, option("Licence of the sources that say nothing of theirs, such as CC-BY-4.0.", metavar="SPDX")
    ] = None,
    licences: Annotated[
        Path | None, option("CSV with the columns source (id, URI or name) and licence, for single sources.")
    ] = None,
    publish_held_back: Annotated[
        bool, option("Show the truth of a challenge to everybody, with --public.", "--publish-held-back")
    ] = False,
    revision: Revision = None,
    dry_run: Annotated[bool, option("Print what would go, and send nothing.", "--dry-run")] = False,
    as_json: AsJson = False,
) -> None:
    """Upload a frozen dataset to the Hugging Face Hub. Its hashes and licences are checked first.

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
    console.say(f"{done.url}: {seen}, {done.sent} files sent, {done.there} there already, {done.removed} old ones removed")
    if public and done.private:
        console.say("It was private before and stays so; its settings on the Hub change that.")


def fetch(
    repo: Annotated[str, argument("Dataset of the Hub.", metavar="OWNER/NAME")],
    to: Annotated[Path, option("New folder.")],
    slices: Annotated[
        list[str] | None, option("Only this slice; may be given again.", "--slice", default="all", metavar="NAME")
    ] = None,
    revision: Revision = None,
    as_json: AsJson = False,
) -> None:
    """Download a frozen dataset from the Hugging Face Hub. It comes whole or in slices, and the SHA-256 of every file is
    checked.

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
    console.say(
        f"{len(done.dataset.items)} items in {len(done.dataset.slices)} slices of {repo} at {done.commit[:12]}: {done.folder}"
    )
    if done.missing:
        console.say(f"Not fetched: {', '.join(done.missing)}")


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
        console.say(f"and {more} more files; --json prints them all")
    total = sum(made.bytes.values())
    console.say(f"{len(made.bytes)} files, {total} bytes; nothing was sent")
