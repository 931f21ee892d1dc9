"""`export`: prove a dataset, convert it, compare it, take items out, and the way to the Hub and from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.cli import console
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, AsJson, InWorkspace, Next, Table
from inpaintbench.cli.options import Among, More, OfDataset, Positive, option
from inpaintbench.cli.words import check_constants
from inpaintbench.errors import InputError, UsageError, VerifyError
from inpaintbench.export.layouts import LAYOUTS
from inpaintbench.files import without_controls
from inpaintbench.lazily import lazily
from inpaintbench.pages.words import count
from inpaintbench.storage import Place, place
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.export.publishing.push import Plan
    from inpaintbench.export.removed import Order

changes, documents = lazily("inpaintbench.export.diff"), lazily("inpaintbench.export.documents")
conversion, verifying = lazily("inpaintbench.export.layouts.convert"), lazily("inpaintbench.export.verify")
removed = lazily("inpaintbench.export.removed")
_COMMANDS = ("convert", "verify", "diff", "remove", "push", "fetch")
app = group(
    {name: f"inpaintbench.cli.export:{name}" for name in _COMMANDS} | {"freeze": "inpaintbench.cli.freezing:freeze"},
    help="Freeze items into a dataset that anyone can load and verify.",
)
# Differences that `verify` names.
_SHOWN = 50


def convert(
    dataset: OfDataset,
    *,
    layout: Annotated[str, Among(LAYOUTS)],
    out: Path,
    slices: list[str] | None = None,
    shard_megabytes: Positive | None = None,
) -> Answer:
    """Write a frozen dataset in another layout. It is checked against its manifest.

    Args:
        dataset: A frozen dataset, or its address.
        layout (NAME): One of: {names}.
        out: New folder; one of an earlier conversion is replaced whole.
        slices --slice (NAME): Only this slice; may be given again. [default: all]
        shard_megabytes: Most media in one file, of embedded and webdataset. [default: 500]

    Example: inpaintbench export convert DATASET --layout webdataset --out SHARDS
    """
    constants = {} if shard_megabytes is None else {"shard_megabytes": shard_megabytes}
    check_constants(LAYOUTS.get(layout), constants, called=f"layout {layout!r}")
    with console.progress() as shown:
        made = conversion.convert(Path(dataset), layout=layout, out=out, slices=slices or (), constants=constants, progress=shown)
    return Answer(
        made,
        f"{count(made.items, 'item')} of {count(made.slices, 'slice')} in {count(made.files, 'file')}, "
        f"{made.bytes / 1e6:.1f} MB: {made.folder}",
    )


def verify(
    dataset: OfDataset,
    *,
    decoder: str | None = None,
    sample: Positive | None = None,
    seed: int = 0,
    revision: str | None = None,
    as_json: AsJson = False,
) -> Answer:
    """Prove that a dataset is what its manifest says. Every file is hashed, every config loaded, media decoded with two
    decoders; exit status 1 on any difference.

    Args:
        dataset (DATASET): Folder or address of a frozen dataset, or OWNER/NAME on the Hub.
        decoder: Second decoder: torchcodec, ffmpeg or decord. [default: the first installed]
        sample: Decode the media of so many items alone; of the Hub, download no others. [default: all]
        seed: Of --sample: another one draws other items.
        revision: Branch, tag or commit of the Hub. [default: main]

    Example: inpaintbench export verify OWNER/NAME --sample 20
    """
    with console.progress() as shown:
        if changes.is_hub_name(dataset):
            from inpaintbench.export.publishing.fetch import verify_hub

            result = verify_hub(dataset, decoder=decoder, sample=sample, seed=seed, revision=revision, progress=shown)
        elif revision is not None:
            raise UsageError(f"{dataset!r} is a folder; --revision is for datasets of the Hub")
        else:
            result = verifying.verify(Path(dataset), decoder=decoder, sample=sample, seed=seed, progress=shown)
    facts, called = {"equal": not result.problems, **asdict(result)}, console.shown(Path(dataset))
    if result.problems:
        for problem in () if as_json else result.problems[:_SHOWN]:
            console.note(problem)
        return Answer(facts, fault=VerifyError(f"{called} differs from its manifest in {len(result.problems)} places"))
    lines = [f"{called}: {result.files} files, {result.configs} configs, {result.cells} cells equal the manifest"]
    if result.second_decoder and result.largest_difference is not None:
        lines.append(f"{result.second_decoder} agrees with PyAV to {result.largest_difference} levels")
    lines += [f"It is {result.dataset_id}", *(f"Not looked at: {what}" for what in result.not_looked_at)]
    usual = ("eval", "run", Path(dataset), "--run", "RUN", "--method", "MODULE:NAME", "--report")
    follows = ("export", "fetch", dataset, "--to", "FOLDER") if changes.is_hub_name(dataset) else usual
    return Answer(facts, *lines, Next(*follows))


def diff(
    old: str,
    new: str,
    *,
    changelog: bool = False,
    shown: Positive = 20,
    old_revision: str | None = None,
    new_revision: str | None = None,
    as_json: AsJson = False,
) -> Answer:
    """Tell what changed between two datasets. Their manifests alone are read; exit status 0 whether or not they differ.

    Args:
        old (A): Folder of a frozen dataset, or OWNER/NAME on the Hub.
        new (B): The same, of the later version.
        changelog: Print Markdown for a changelog.
        shown --show: Most lines of a kind.
        old_revision: Of A on the Hub. [default: main]
        new_revision: Of B on the Hub. [default: main]

    Example: inpaintbench export diff exports/devil-1.0 exports/devil --changelog
    """
    if changelog and as_json:
        raise UsageError("--changelog prints Markdown and --json JSON; give one of them")
    with changes.manifest_at(old, revision=old_revision) as before, changes.manifest_at(new, revision=new_revision) as after:
        change = changes.difference(before, after)
    if changelog:
        return Answer(None, without_controls(changes.changelog(change)).removesuffix("\n"))
    return Answer(changes.as_json(change), *changes.lines(change, shown=shown))


def remove(
    workspace: InWorkspace,
    *,
    items: list[str] | None = None,
    clips: list[str] | None = None,
    sources: list[str] | None = None,
    reason: str | None = None,
    undo: bool = False,
) -> Answer:
    """Take items, clips or sources out of every later export. Ids of the others stay. Without any, tell what is taken out.

    Args:
        items --item (ID): May be given again. [default: none]
        clips --clip (ID): May be given again. [default: none]
        sources --source (ID|URI): As the dataset has it; may be given again. [default: none]
        reason: Published in the place of the items, so name nobody. [default: none]
        undo: Put back what was removed.

    Example: inpaintbench export remove WORKSPACE --source films/a.mp4 --reason "withdrawn by its author"
    """
    named = [(kind, name) for kind, names in (("item", items), ("clip", clips), ("source", sources)) for name in names or ()]
    opened = Workspace(workspace, create=False)
    if not named:
        if undo or reason is not None:
            raise UsageError("say what: --item, --clip or --source")
        return Answer(orders := removed.orders(opened), _table_of(orders, "Taken out"))
    with opened.locked():
        if undo:
            if reason is not None:
                raise UsageError("--undo puts back, which needs no --reason")
            done = removed.undo(opened, named)
        elif reason is None:
            raise UsageError('a removal needs a reason, which is published: --reason "withdrawn by its author"')
        else:
            done = removed.remove(opened, named, reason=reason)
    sentence = f"{'Put back' if undo else 'Removed'}: {count(sum(len(row.items) for row in done), 'item')}"
    return Answer(done, _table_of(done, "Put back" if undo else "Taken out"), sentence, Next("export", "freeze", workspace))


def _table_of(orders: list[Order], title: str) -> str | Table:
    rows = [(order.kind, order.subject_id, len(order.items), order.reason) for order in orders]
    return Table(title, ["kind", "id", "items", "reason"], rows) if rows else "Nothing is taken out."


_FILES_SHOWN = 20
Revision = Annotated[str | None, option("Branch of the Hub; when fetching a tag or commit too.", default="main")]


def push(
    dataset: OfDataset,
    *,
    repo: str | None = None,
    to: Annotated[Place | None, More(parser=place)] = None,
    public: bool = False,
    licence: str | None = None,
    licences: Path | None = None,
    publish_held_back: bool = False,
    benchmark: bool = False,
    revision: Revision = None,
    dry_run: bool = False,
) -> Answer:
    """Upload a frozen dataset to the Hub or to an address. Its hashes and licences are checked first.

    The token is that of HF_TOKEN or `hf auth login`. A push that was stopped goes on when it is called again.

    Args:
        dataset: A frozen dataset, or its address.
        repo (OWNER/NAME): Dataset of the Hub; made where there is none.
        to (ADDRESS): In its place an address such as s3://bucket/devil, which holds no other dataset. [default: none]
        public: Show it to everybody; otherwise a new one is private.
        licence (SPDX): Licence of the sources that say nothing of theirs, such as CC-BY-4.0.
        licences: CSV with the columns source (id, URI or name) and licence, for single sources.
        publish_held_back: Show the truth of a challenge to everybody, with --public.
        benchmark: Send eval.yaml too, which asks the Hub for leaderboards of the usual protocol.
        dry_run: Print what would go, and send nothing.

    Example: inpaintbench export push WORKSPACE/exports/devil --repo OWNER/NAME --dry-run
    """
    from inpaintbench.export.publishing.client import check_name
    from inpaintbench.export.publishing.push import plan
    from inpaintbench.export.publishing.push import push as upload

    if to is not None:
        if repo is not None or public or benchmark or revision:
            raise UsageError("--to goes with none of --repo, --public, --benchmark and --revision, which are for the Hub")
        return _push_to(to, plan(Path(dataset), licence=licence, licences=licences), dry_run=dry_run)
    if repo is None:
        raise UsageError("give either --repo OWNER/NAME or --to ADDRESS")
    check_name(repo)
    made = plan(Path(dataset), licence=licence, licences=licences)
    beside = {}
    if benchmark:
        from inpaintbench.eval.protocols import PROTOCOLS, usual
        from inpaintbench.eval.result_files import EVAL_YAML, eval_yaml

        protocol = PROTOCOLS.get(usual(made.dataset))
        beside = {EVAL_YAML: eval_yaml(made.dataset, protocol, description=benchmark_of(made.dataset).use)}
    obstacles = made.obstacles()
    if public and not publish_held_back and (truth := made.dataset.facts.get("truth_of")):
        obstacles = [
            f"{made.dataset.name!r} is the truth that {truth['dataset']!r} holds back; push it without --public, or with "
            "--publish-held-back once the challenge is over",
            *obstacles,
        ]
    fault = InputError("; ".join(obstacles)) if obstacles else None
    if dry_run:
        texts = {name: data.decode() for name, data in beside.items()}
        facts = {**_planned(made, repo, obstacles, public=public), "of_the_hub": texts}
        hub = (f"beside it, for the Hub, {name}:\n{text.rstrip()}" for name, text in texts.items())
        return Answer(facts, *_plan(made, repo, public=public), *hub, fault=fault)
    if fault:
        raise fault
    with console.progress() as progress:
        done = upload(made, repo, public=public, revision=revision, of_the_hub=beside, progress=progress)
    seen = "private" if done.private else "public"
    sentences = [f"{done.url}: {seen}, {done.sent} files sent, {done.there} there already, {done.removed} old ones removed"]
    if public and done.private:
        sentences.append("It was private before and stays so; its settings on the Hub change that.")
    return Answer(done, *sentences, Next("export", "verify", repo))


def _push_to(to: Place, made: Plan, *, dry_run: bool) -> Answer:
    from inpaintbench.export.publishing.push import push_to

    if isinstance(to, Path):
        raise UsageError(f"--to {str(to)!r} is a path, and takes an address such as s3://bucket/devil")
    if dry_run:
        obstacles = made.obstacles()
        fault = InputError("; ".join(obstacles)) if obstacles else None
        return Answer(_planned(made, str(to), obstacles, public=False), *_plan(made, str(to)), fault=fault)
    with console.progress() as progress:
        sent = push_to(made, to, progress=progress)
    there = len(made.sha256) - sent
    return Answer({"address": str(to), "sent": sent, "there": there}, f"{to}: {sent} files sent, {there} there already")


def fetch(repo: str, *, to: Path, slices: list[str] | None = None, revision: Revision = None) -> Answer:
    """Download a frozen dataset from the Hugging Face Hub. It comes whole or in slices, and the SHA-256 of every file is
    checked.

    A fetch that was stopped goes on when it is called again.

    Args:
        repo (OWNER/NAME): Dataset of the Hub.
        to: New folder.
        slices --slice (NAME): Only this slice; may be given again. [default: all]

    Example: inpaintbench export fetch OWNER/NAME --to data/devil --slice size-low
    """
    from inpaintbench.export.publishing.fetch import fetch as download

    with console.progress() as progress:
        done = download(repo, to, slices=slices or (), revision=revision, progress=progress)
    names = [part.name for part in done.dataset.slices]
    facts = {
        "folder": done.folder, "repository": repo, "commit": done.commit, "items": len(done.dataset.items), "slices": names,
        "missing": done.missing,
    }  # fmt: skip
    sentence = f"{len(done.dataset.items)} items in {len(names)} slices of {repo} at {done.commit[:12]}: {done.folder}"
    lacking = [f"Not fetched: {', '.join(done.missing)}"] if done.missing else []
    return Answer(facts, sentence, *lacking, Next("export", "verify", done.folder))


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
        "rai_not_stated": documents.unstated(made.dataset),
    }


def _plan(made: Plan, repo: str, *, public: bool | None = None) -> Iterator[str | Table]:
    per_folder: dict[str, list[int]] = {}
    for name, size in made.bytes.items():
        folder, slash, _ = name.rpartition("/")
        per_folder.setdefault(folder + slash or "cards, rows and manifest", []).append(size)
    rows = [[folder, len(sizes), sum(sizes)] for folder, sizes in sorted(per_folder.items())]
    shown = {None: "", True: ", public", False: ", private"}[public]
    yield Table(f"To {repo}{shown}", ["files of", "files", "bytes"], rows)
    yield Table("Configs", ["config", "items"], [[part.name, len(part.item_ids)] for part in made.dataset.slices])
    yield Table("Licences", ["licence", "sources"], list(made.licences().items()))
    if over := made.stated_over():
        stated = [[old, licence, count] for old, new in over.items() for licence, count in new.items()]
        yield Table("Stated over what the dataset says", ["the dataset says", "you state", "sources"], stated)
    yield Table("Files", ["file", "bytes"], [[name, made.bytes[name]] for name in sorted(made.bytes)[:_FILES_SHOWN]])
    if (more := len(made.bytes) - _FILES_SHOWN) > 0:
        yield f"and {more} more files; --json prints them all"
    yield f"{len(made.bytes)} files, {sum(made.bytes.values())} bytes; nothing was sent"
    if missing := documents.unstated(made.dataset):
        yield f"croissant.json says nothing of {', '.join(missing)}: state them in the table [rai] of the file of --dataset"
