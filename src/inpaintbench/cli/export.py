"""`export`: freeze a dataset and prove it, convert it, compare it, take items out, and the way to the Hub and from there."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Described, Describing
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, AsJson, InWorkspace, print_json
from inpaintbench.cli.options import Among, Positive, option
from inpaintbench.cli.words import check_constants
from inpaintbench.errors import InputError, UsageError, VerifyError
from inpaintbench.export import removed
from inpaintbench.export.diff import is_hub_name
from inpaintbench.export.documents import unstated
from inpaintbench.export.exposure import exposed_words
from inpaintbench.export.layouts import LAYOUTS
from inpaintbench.export.layouts.convert import convert as convert_dataset
from inpaintbench.export.verify import Verification
from inpaintbench.export.verify import verify as verify_folder
from inpaintbench.files import without_controls
from inpaintbench.frozen import dataset_id, has_truth
from inpaintbench.recipes import dataset_table
from inpaintbench.recipes.dataset_table import DatasetTable
from inpaintbench.recipes.settings import export, export_apart, recall
from inpaintbench.recipes.versions import Asked
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.export.publishing.plan import Plan

app = group(
    {
        "convert": "inpaintbench.cli.export:convert",
        "verify": "inpaintbench.cli.export:verify",
        "diff": "inpaintbench.cli.export:diff",
        "remove": "inpaintbench.cli.export:remove",
        "push": "inpaintbench.cli.export:push",
        "fetch": "inpaintbench.cli.export:fetch",
        "freeze": "inpaintbench.cli.export:freeze",
    },
    help="Freeze items into a dataset that anyone can load and verify.",
)
# Differences that `verify` names.
_SHOWN = 50


def freeze(
    workspace: InWorkspace,
    *,
    to: Path | None = None,
    held: list[str] | None = None,
    version: str | None = None,
    replace: bool = False,
    allow_near_duplicates: str | None = None,
    allow_exposed: str | None = None,
    describing: Describing = Described(),
    as_json: AsJson = False,
) -> None:
    """Write the frozen dataset of a workspace. What changed since the last version is told first, and gets a version of its own.

    Args:
        to: Dataset folder. [default: WORKSPACE/exports/RECIPE]
        held --hold-back (SPLIT): Keep the truth of this split out of the dataset, in a second one called TO-truth; may be
            given again. [default: none]
        version (X.Y.Z): Of the dataset. [default: the last one's, or the next where the content changed; at first 1.0.0]
        replace: Publish this in the place of a dataset of other content, even where items are lost.
        allow_near_duplicates (WHY): Leave near-duplicates in different splits, for a reason that is published.
        allow_exposed (WHY): With --hold-back: let inputs show what lies under each other's holes, for a reason that is
            published.

    Example: inpaintbench export freeze WORKSPACE --to FOLDER
    """
    if allow_exposed is not None and not held:
        raise UsageError("--allow-exposed is for --hold-back; give both, or neither")
    opened = Workspace(workspace, create=False)
    say = console.warn if as_json else console.say
    asked = Asked(version=version, allow_near_duplicates=allow_near_duplicates, replace=replace, say=say)
    with console.writing(opened):
        dataset_table.keep(opened, _retold(describing, dataset_table.kept(opened)))
        if held:
            made = list(export_apart(recall(opened), opened, splits=held, target=to, allow_exposed=allow_exposed, asked=asked))
        else:
            made = [export(recall(opened), opened, target=to, asked=asked)]
    if as_json:
        print_json([_in_numbers(folder, dataset) for folder, dataset in made])
    elif len(made) == 2:
        _tell_apart(made[0], made[1])
    else:
        [(folder, dataset)] = made
        console.say(f"{len(dataset.items)} items in {len(dataset.slices)} slices: {folder}")
        console.say(f"It is {dataset_id(dataset)}")
        console.tell_next("export", "verify", folder)


def _retold(describing: Described, before: DatasetTable) -> DatasetTable:
    """What is said of the dataset now; items are dealt to splits when they are paired, not here."""
    table = describing.over(before)
    if table.splits != before.splits:
        raise UsageError("splits are dealt when items are made; give them to `inpaintbench build`")
    return table


def _in_numbers(folder: Path, dataset: Dataset) -> dict[str, object]:
    truths = sum(map(has_truth, dataset.items))
    return {
        "folder": folder, "id": dataset_id(dataset), "items": len(dataset.items), "with_truth": truths,
        "slices": {part.name: len(part.item_ids) for part in dataset.slices}, "left_out": dataset.left_out,
        "removed": len(dataset.removed),
    }  # fmt: skip


def _tell_apart(public: tuple[Path, Dataset], truth: tuple[Path, Dataset]) -> None:
    """Print where both datasets lie, and warn of what the inputs show of the truth all the same."""
    (folder, dataset), (apart, kept) = public, truth
    console.say(f"{len(dataset.items)} items in {len(dataset.slices)} slices, {len(kept.items)} of them without truth: {folder}")
    console.say(f"their truth, to be kept: {apart}")
    held_back = dataset.facts["held_back"]
    if seen := held_back.get("shown_by_other_inputs"):
        why = f"; the dataset says that it is allowed because: {held_back['allowed']}" if "allowed" in held_back else ""
        console.warn(exposed_words(seen, len(kept.items)) + why)


def convert(
    dataset: Path,
    *,
    layout: Annotated[str, Among(LAYOUTS)],
    out: Path,
    slices: list[str] | None = None,
    shard_megabytes: Positive | None = None,
) -> Answer:
    """Write a frozen dataset in another layout. It is checked against its manifest.

    Args:
        dataset: A frozen dataset.
        layout (NAME): One of: {names}.
        out: New folder; one of an earlier conversion is replaced whole.
        slices --slice (NAME): Only this slice; may be given again. [default: all]
        shard_megabytes: Most media in one file, of embedded and webdataset. [default: 500]

    Example: inpaintbench export convert DATASET --layout webdataset --out SHARDS
    """
    constants = {} if shard_megabytes is None else {"shard_megabytes": shard_megabytes}
    check_constants(LAYOUTS.get(layout), constants, called=f"layout {layout!r}")
    with console.progress() as shown:
        made = convert_dataset(dataset, layout=layout, out=out, slices=slices or (), constants=constants, progress=shown)
    return Answer(
        made, f"{made.items} items of {made.slices} slices in {made.files} files, {made.bytes / 1e6:.1f} MB: {made.folder}"
    )


def verify(
    dataset: str,
    *,
    decoder: str | None = None,
    sample: Positive | None = None,
    seed: int = 0,
    revision: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Prove that a dataset is what its manifest says. Every file is hashed, every config loaded, media decoded with two
    decoders; exit status 1 on any difference.

    Args:
        dataset (DATASET): Folder of a frozen dataset, or OWNER/NAME on the Hub.
        decoder: Second decoder: torchcodec, ffmpeg or decord. [default: the first installed]
        sample: Decode the media of so many items alone; of the Hub, download no others. [default: all]
        seed: Of --sample: another one draws other items.
        revision: Branch, tag or commit of the Hub. [default: main]

    Example: inpaintbench export verify OWNER/NAME --sample 20
    """
    with console.progress() as shown:
        if is_hub_name(dataset):
            from inpaintbench.export.publishing.fetch import verify_hub

            result = verify_hub(dataset, decoder=decoder, sample=sample, seed=seed, revision=revision, progress=shown)
        elif revision is not None:
            raise UsageError(f"{dataset!r} is a folder; --revision is for datasets of the Hub")
        else:
            result = verify_folder(Path(dataset), decoder=decoder, sample=sample, seed=seed, progress=shown)
    if as_json:
        print_json({"equal": not result.problems, **asdict(result)})
    for problem in () if as_json else result.problems[:_SHOWN]:
        console.err.print(problem, markup=False)
    if result.problems:
        raise VerifyError(f"{dataset} differs from its manifest in {len(result.problems)} places")
    if not as_json:
        _tell_verified(dataset, result)
        if is_hub_name(dataset):
            console.tell_next("export", "fetch", dataset, "--to", "FOLDER")
        else:
            console.tell_next("eval", "run", Path(dataset), "--run", "RUN", "--method", "MODULE:NAME", "--report")


def _tell_verified(dataset: str, result: Verification) -> None:
    lines = [f"{dataset}: {result.files} files, {result.configs} configs, {result.cells} cells equal the manifest"]
    if result.second_decoder and result.largest_difference is not None:
        lines.append(f"{result.second_decoder} agrees with PyAV to {result.largest_difference} levels")
    lines.append(f"It is {result.dataset_id}")
    for line in [*lines, *(f"Not looked at: {what}" for what in result.not_looked_at)]:
        console.say(line)


def diff(
    old: str,
    new: str,
    *,
    changelog: bool = False,
    shown: Positive = 20,
    old_revision: str | None = None,
    new_revision: str | None = None,
    as_json: AsJson = False,
) -> None:
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
    from inpaintbench.export.diff import as_json as plain
    from inpaintbench.export.diff import changelog as markdown
    from inpaintbench.export.diff import difference, lines, manifest_at

    if changelog and as_json:
        raise UsageError("--changelog prints Markdown and --json JSON; give one of them")
    with manifest_at(old, revision=old_revision) as before, manifest_at(new, revision=new_revision) as after:
        change = difference(before, after)
    if as_json:
        print_json(plain(change))
    elif changelog:
        sys.stdout.write(without_controls(markdown(change)))
    else:
        for line in lines(change, shown=shown):
            console.say(line)


def remove(
    workspace: InWorkspace,
    *,
    items: list[str] | None = None,
    clips: list[str] | None = None,
    sources: list[str] | None = None,
    reason: str | None = None,
    undo: bool = False,
    as_json: AsJson = False,
) -> None:
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
        _tell_orders(removed.orders(opened), as_json=as_json)
        return
    with opened.locked():
        if undo:
            if reason is not None:
                raise UsageError("--undo puts back, which needs no --reason")
            done = removed.undo(opened, named)
        elif reason is None:
            raise UsageError('a removal needs a reason, which is published: --reason "withdrawn by its author"')
        else:
            done = removed.remove(opened, named, reason=reason)
    _tell_orders(done, as_json=as_json, title="Put back" if undo else "Taken out")
    if not as_json:
        console.say(f"{'Put back' if undo else 'Removed'}: {sum(len(row.items) for row in done)} items")
        console.tell_next("export", "freeze", workspace)


def _tell_orders(orders: list[removed.Order], *, as_json: bool, title: str = "Taken out") -> None:
    if as_json:
        print_json(orders)
        return
    rows = [(order.kind, order.subject_id, len(order.items), order.reason) for order in orders]
    if rows:
        console.print_table(title, ["kind", "id", "items", "reason"], rows)
    else:
        console.say("Nothing is taken out.")


_FILES_SHOWN = 20
Revision = Annotated[str | None, option("Branch of the Hub; when fetching a tag or commit too.", default="main")]


def push(
    dataset: Path,
    *,
    repo: str,
    public: bool = False,
    licence: str | None = None,
    licences: Path | None = None,
    publish_held_back: bool = False,
    benchmark: bool = False,
    revision: Revision = None,
    dry_run: bool = False,
    as_json: AsJson = False,
) -> None:
    """Upload a frozen dataset to the Hugging Face Hub. Its hashes and licences are checked first.

    The token is that of HF_TOKEN or `hf auth login`. A push that was stopped goes on when it is called again.

    Args:
        dataset: A frozen dataset.
        repo (OWNER/NAME): Dataset of the Hub; made where there is none.
        public: Show it to everybody; otherwise a new one is private.
        licence (SPDX): Licence of the sources that say nothing of theirs, such as CC-BY-4.0.
        licences: CSV with the columns source (id, URI or name) and licence, for single sources.
        publish_held_back: Show the truth of a challenge to everybody, with --public.
        benchmark: Send eval.yaml too, which asks the Hub for leaderboards of the usual protocol.
        dry_run: Print what would go, and send nothing.

    Example: inpaintbench export push WORKSPACE/exports/devil --repo OWNER/NAME --dry-run
    """
    from inpaintbench.export.publishing.client import check_name
    from inpaintbench.export.publishing.plan import plan
    from inpaintbench.export.publishing.push import push as upload

    check_name(repo)
    made = plan(dataset, licence=licence, licences=licences)
    beside = _eval_yaml(made.dataset) if benchmark else {}
    obstacles = [*_of_truth(made, public and not publish_held_back), *made.obstacles()]
    if dry_run:
        if as_json:
            print_json(
                {
                    **_planned(made, repo, obstacles, public=public),
                    "of_the_hub": {name: data.decode() for name, data in beside.items()},
                }
            )
        else:
            _print_plan(made, repo, public=public)
            for name, data in beside.items():
                console.say(f"beside it, for the Hub, {name}:\n{data.decode().rstrip()}")
    if obstacles:
        raise InputError("; ".join(obstacles))
    if dry_run:
        return
    with console.progress() as progress:
        done = upload(made, repo, public=public, revision=revision, of_the_hub=beside, progress=progress)
    if as_json:
        print_json(done)
        return
    seen = "private" if done.private else "public"
    console.say(f"{done.url}: {seen}, {done.sent} files sent, {done.there} there already, {done.removed} old ones removed")
    if public and done.private:
        console.say("It was private before and stays so; its settings on the Hub change that.")
    console.tell_next("export", "verify", repo)


def _eval_yaml(dataset: Dataset) -> dict[str, bytes]:
    from inpaintbench.eval.protocols import PROTOCOLS, usual
    from inpaintbench.eval.result_files.handing_on import EVAL_YAML, eval_yaml

    return {EVAL_YAML: eval_yaml(dataset, PROTOCOLS.get(usual(dataset)), description=benchmark_of(dataset).use)}


def fetch(repo: str, *, to: Path, slices: list[str] | None = None, revision: Revision = None, as_json: AsJson = False) -> None:
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
    console.tell_next("export", "verify", done.folder)


def _of_truth(made: Plan, shown: bool) -> list[str]:
    """Return why the truth of a challenge is not shown to everybody."""
    truth = made.dataset.facts.get("truth_of")
    if not (truth and shown):
        return []
    return [
        f"{made.dataset.name!r} is the truth that {truth['dataset']!r} holds back; push it without --public, or with "
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
        "rai_not_stated": unstated(made.dataset),
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
    console.print_table("Files", ["file", "bytes"], [[name, made.bytes[name]] for name in sorted(made.bytes)[:_FILES_SHOWN]])
    if (more := len(made.bytes) - _FILES_SHOWN) > 0:
        console.say(f"and {more} more files; --json prints them all")
    total = sum(made.bytes.values())
    console.say(f"{len(made.bytes)} files, {total} bytes; nothing was sent")
    if missing := unstated(made.dataset):
        console.say(
            f"croissant.json says nothing of {', '.join(missing)}: state them in the table [rai] of the file of --dataset"
        )
