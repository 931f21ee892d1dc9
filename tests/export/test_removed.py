"""Takedowns and versions: what is taken out stays out, and nothing else changes."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from program import run_here
from publishing_data import contents
from splits_world import copy_of, make

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.export import removed
from inpaintbench.export.layout import media_names
from inpaintbench.recipes.settings import export, recall
from inpaintbench.recipes.versions import Asked, last
from inpaintbench.types import Clip, Item, Slice, Source
from inpaintbench.workspace import Workspace

WHY = "withdrawn by its author"

pytestmark = pytest.mark.usefixtures("pictures_are_known")


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("takedown") / "workspace").path


@pytest.fixture
def world(_made: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(_made, tmp_path / "workspace")), create=False)


def source_of(world: Workspace, item_id: str) -> Source:
    item = next(row for row in world.table("items", Item) if row.item_id == item_id)
    clip = next(row for row in world.table("clips", Clip) if row.clip_id == item.clip_id)
    return next(row for row in world.table("sources", Source) if row.source_id == clip.source_id)


def exported(world: Workspace, **asked: str) -> tuple[Path, frozen.Dataset]:
    """An export in the place of whatever was published."""
    return export(recall(world), world, asked=Asked(replace=True, **asked))


def items_of(dataset: frozen.Dataset, source: Source) -> set[str]:
    return {row["item_id"] for row in dataset.items if row["source_id"] == source.source_id}


def test_a_removed_source_leaves_everything_else_as_it_was(world: Workspace) -> None:
    folder, _ = exported(world)
    before, old = frozen.load(shutil.copytree(folder, world.path / "before")), contents(folder)
    source = source_of(world, before.items[0]["item_id"])
    gone = items_of(before, source)
    done = run_here("export", "remove", world.path, "--source", source.uri, "--reason", WHY)
    assert done.returncode == 0, done.stderr
    assert f"Removed: {len(gone)} items" in done.stdout
    assert source.uri not in (world.path / removed.FILE).read_text()  # the order keeps a hash of the address alone
    _, after = exported(world)

    assert list(after.items) == [row for row in before.items if row["item_id"] not in gone]
    assert after.removed == tuple({"item_id": item, "reason": WHY} for item in sorted(gone))
    for part in after.slices:
        earlier = next(one for one in before.slices if one.name == part.name)
        assert list(part.item_ids) == [item for item in earlier.item_ids if item not in gone]
    # Media that no item needs are gone, all others have the bytes that they had.
    new = contents(folder)
    needed = {name for row in after.items for name in media_names(row)}
    media = {name for name in new if name.endswith(".png")}
    assert media == needed
    assert all(new[name] == old[name] for name in media)
    lost = {name for row in before.items if row["item_id"] in gone for name in media_names(row)}
    assert lost
    assert not lost & set(new)
    # Nothing tells whose it was.
    everything = b"".join(data for name, data in new.items() if not name.endswith(".png"))
    for told in (source.uri, source.source_id, source.sha256):
        assert told.encode() not in everything

    run_here("export", "remove", world.path, "--source", source.source_id, "--undo")
    assert not (world.path / removed.FILE).exists()
    _, back = exported(world)
    assert (back.items, back.slices, back.removed, back.version) == (before.items, before.slices, (), "2.1.0")
    assert {name: data for name, data in contents(folder).items() if name in media or name in lost} == {
        name: old[name] for name in media | lost
    }


def test_what_appears_later_of_a_removed_source_is_left_out_and_survives_new_pairs(world: Workspace) -> None:
    _, before = exported(world)
    source = source_of(world, before.items[0]["item_id"])
    gone = items_of(before, source)
    removed.remove(world, [("source", source.uri)], reason=WHY)
    # Another file at the same address, and so another source with another id, and another clip of it.
    clip = copy_of(world, before.items[0]["clip_id"], "later.png", lambda frames: 255 - frames, split="test")
    added = world.table("sources", Source, step="find.added")
    world.write_table("sources", "find.added", [type(added[0])(**{**vars(added[0]), "uri": source.uri})], Source)
    _, after = exported(world)
    assert {row["item_id"] for row in after.removed} == gone | {"i-later.png"}
    assert clip not in {row["clip_id"] for row in after.items}
    # Even when its items are in the workspace no longer, their tombstones stay.
    items = [row for row in world.table("items", Item) if row.item_id not in gone]
    parts = [Slice(p.name, p.rule, tuple(i for i in p.item_ids if i not in gone)) for p in world.table("slices", Slice)]
    world.write_table("items", "pair", items, Item)
    world.write_table("slices", "pair", parts, Slice)
    assert {row["item_id"] for row in exported(world)[1].removed} == gone | {"i-later.png"}


def test_items_and_clips_one_by_one_and_a_slice_that_loses_all_of_its_items(world: Workspace) -> None:
    _, before = exported(world)
    part = min(before.slices, key=lambda one: len(one.item_ids))
    clip = next(row["clip_id"] for row in before.items if row["item_id"] not in part.item_ids)
    arguments = [word for item in part.item_ids for word in ("--item", item)]
    assert run_here("export", "remove", world.path, *arguments, "--clip", clip, "--reason", WHY).returncode == 0
    _, after = exported(world)
    assert part.name not in {one.name for one in after.slices}
    assert after.left_out[part.name] == removed.EMPTY
    assert not {row["item_id"] for row in after.items} & set(part.item_ids)
    assert clip not in {row["clip_id"] for row in after.items}
    told = json.loads(run_here("export", "remove", world.path, "--json").stdout)
    assert [(one["kind"], one["reason"]) for one in told] == [("item", WHY)] * len(part.item_ids) + [("clip", WHY)]


def test_refusals_are_one_sentence_and_take_nothing_out(world: Workspace) -> None:
    item = world.table("items", Item)[0].item_id
    for named, why in (
        ([("item", item), ("clip", "nothing")], r"the workspace has no clip 'nothing'; take the clip_id of a row"),
        ([("source", "https://example.org/a")], r"no source 'https://example.org/a'"),
    ):
        with pytest.raises(InputError, match=why):
            removed.remove(world, named, reason=WHY)
    with pytest.raises(InputError, match="needs a reason"):
        removed.remove(world, [("item", item)], reason=" ")
    assert removed.orders(world) == []
    with pytest.raises(InputError, match=f"the item '{item}' was not removed"):
        removed.undo(world, [("item", item)])
    wrong = {
        "a removal needs a reason": ["--item", item],
        "say what": ["--undo"],
        "no --reason": ["--item", item, "--undo", "--reason", "x"],
    }
    for why, arguments in wrong.items():
        done = run_here("export", "remove", world.path, *arguments)
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    removed.remove(world, [("item", row.item_id) for row in world.table("items", Item)], reason=WHY)
    with pytest.raises(InputError, match="every item was removed"):
        exported(world)
    (world.path / removed.FILE).write_text("{}\n")
    with pytest.raises(WorkspaceError, match=r"removed.jsonl' is damaged"):
        exported(world)


def test_versions_are_remembered_go_up_and_stand_in_the_id(world: Workspace) -> None:
    first = exported(world)[1]
    assert frozen.dataset_id(first) == f"{first.name}@1.0.0+{last(world).content[:12]}"
    item_id = first.items[0]["item_id"]
    done = run_here("export", "freeze", world.path, "--version", "1.2.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"@1.2.0+{last(world).content[:12]}" in done.stdout
    # The version is no content: the same items under another version differ in documents alone.
    assert frozen.content_of(first) == frozen.content_of(frozen.load(world.path / "exports" / "pictures"))
    assert run_here("export", "freeze", world.path).stderr == ""
    assert frozen.load(world.path / "exports" / "pictures").version == "1.2.0"
    removed.remove(world, [("item", item_id)], reason=WHY)
    done = run_here("export", "freeze", world.path)
    assert done.returncode == 1
    assert f"differs: 1 item removed: {WHY}; " in done.stderr
    assert "give --replace to publish this instead" in done.stderr
    wrong = {
        "1.1.9": "comes before 1.2.0, the last one", "2": "is not MAJOR.MINOR.PATCH", "1.02.0": "is not",
        "1.9.9": "changes more than it adds to",
    }  # fmt: skip
    for version, why in wrong.items():
        done = run_here("export", "freeze", world.path, "--replace", "--version", version)
        assert done.returncode != 0
        assert why in done.stderr
    assert last(world).version == "1.2.0"
    done = run_here("export", "freeze", world.path, "--replace")
    assert f"@1.2.0+{last(world).content[:12]}" not in done.stdout.splitlines()[-1]
    assert "-> version 2.0.0: 1 item removed: withdrawn by its author" in done.stdout
    assert last(world).version == "2.0.0"
    assert "+" in frozen.dataset_id(exported(world, version="10.0.0")[1])  # not by the alphabet


def test_an_export_that_fails_changes_no_version(world: Workspace) -> None:
    exported(world)
    before = last(world)
    removed.remove(world, [("item", row.item_id) for row in world.table("items", Item)], reason=WHY)
    with pytest.raises(InputError):
        exported(world, version="3.0.0")
    assert last(world) == before


def test_a_source_goes_by_the_name_that_its_notice_shows(world: Workspace) -> None:
    source = source_of(world, world.table("items", Item)[0].item_id)
    call(world, source, "films/a%20b%C3%A9.mp4")
    for shown in ("films/a b\u00e9.mp4", "films/a%20b%C3%A9.mp4", source.source_id):
        [order] = removed.remove(world, [("source", shown)], reason=WHY)
        assert (order.subject_id, len(order.items)) == (source.source_id, 2), shown
        assert order.uri_sha256 == (None if shown == source.source_id else hashlib.sha256(b"films/a%20b%C3%A9.mp4").hexdigest())
        assert removed.remove(world, [("source", "films/a b\u00e9.mp4")], reason=WHY) == []  # it is the same one
        assert [one.subject_id for one in removed.undo(world, [("source", shown)])] == [source.source_id]
        assert removed.orders(world) == []
    done = run_here("export", "remove", world.path, "--source", "films/a b\u00e9.mp4", "--reason", WHY)
    assert "Taken out" in done.stdout
    # The order is found again when the source is there no longer.
    call(world, source, "films/c.mp4")
    done = run_here("export", "remove", world.path, "--source", "films/a b\u00e9.mp4", "--undo")
    assert (done.returncode, "Taken out" in done.stdout) == (0, False), done.stderr
    assert done.stdout.startswith("Put back")


def test_an_address_that_means_two_sources_takes_neither_out(world: Workspace) -> None:
    first, second = (source_of(world, item.item_id) for item in (world.table("items", Item)[0], world.table("items", Item)[-1]))
    assert first.source_id != second.source_id
    call(world, first, "a%20b.mp4")  # of the file "a b.mp4"
    call(world, second, "a%2520b.mp4")  # of the file "a%20b.mp4"
    both = " and ".join(sorted((first.source_id, second.source_id)))
    with pytest.raises(InputError, match=rf"'a%20b.mp4' is the address of one source, .* take the id: {both}"):
        removed.remove(world, [("source", "a%20b.mp4")], reason=WHY)
    assert removed.orders(world) == []
    for name, source in (("a b.mp4", first), ("a%2520b.mp4", second)):
        assert [one.subject_id for one in removed.remove(world, [("source", name)], reason=WHY)] == [source.source_id]
    with pytest.raises(InputError, match=f"take the id: {both}"):
        removed.undo(world, [("source", "a%20b.mp4")])
    assert len(removed.orders(world)) == 2


def test_a_reason_is_one_line_of_letters_that_print(world: Workspace) -> None:
    item = world.table("items", Item)[0].item_id
    with pytest.raises(InputError, match="needs a reason"):
        removed.remove(world, [("item", item)], reason=" \n\u202e\0")
    removed.remove(world, [("item", item)], reason=" withdrawn\n\n# by\u202e its\tauthor\0 ")
    assert [one.reason for one in removed.orders(world)] == ["withdrawn # by its author"]
    # Nor does a line break get out of a file that somebody has edited.
    path = world.path / removed.FILE
    path.write_text(path.read_text().replace("withdrawn # by", "withdrawn\\n# by"))
    assert removed.kept(world, world.table("items", Item), []).tombstones[0]["reason"] == "withdrawn # by its author"


def call(world: Workspace, source: Source, uri: str) -> None:
    """Give a source another address."""
    for path in (world.path / "tables" / "sources").iterdir():
        rows = world.table("sources", Source, step=path.stem)
        renamed = [replace(row, uri=uri) if row.source_id == source.source_id else row for row in rows]
        world.write_table("sources", path.stem, renamed, Source)
