"""Datasets of strangers who know the format: each maker spoils a good one, and signs what it wrote with matching hashes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench import manifest
from inpaintbench.files import file_sha256

Fields = dict[str, Any]
# Names that would do something where they were taken for markup, for a path, or for more than words.
NAMES = {
    "a script": "</title></script><script>window.broken = 1; document.title = 'broken in'</script>",
    "a picture": '"><img src=x onerror="window.broken = 1"><b class=hostile>',
    "quotes": 'it\'s "so" `${window.broken = 1}` {{7*7}} %s',
    "out of the folder": "../../../etc/passwd",
    "slashes": "a/b\\c//d?e=f#g&h;i|j~k",
    "for the terminal": "\x1b[2J\x1b]0;owned\x07 \x00 \x9b31m\r\n end",
    "backwards": "\u202egpj.exe\u2066\u200f",
    "long": "x" * 300,
    "an address": "javascript:window.broken=1",
}
DEEP = 200_000
# A control sequence that clears a terminal, one that sets its title, and letters that are shown backwards.
TRICKS = "\x1b[2J\x1b]0;owned\x07evil\u202egpj.exe\u2066\u200f\x9b31m\r"


def resealed(
    folder: Path,
    *,
    rows: Callable[[list[Fields]], object] | None = None,
    table: Callable[[pa.Table], pa.Table] | None = None,
    members: Callable[[list[Fields]], object] | None = None,
    listed: Callable[[list[Fields]], object] | None = None,
    root: Callable[[Fields], object] | None = None,
) -> None:
    """Change parts of a dataset and state the hashes of what came out, as its maker would."""
    stated: Fields = json.loads((folder / manifest.MANIFEST).read_text())
    whole = pq.read_table(folder / "all.parquet")
    items = whole.to_pylist()
    if rows:
        rows(items)
        names = list(dict.fromkeys(name for row in items for name in row))
        kept = pa.schema([whole.schema.field(name) for name in names if name in whole.column_names])
        whole = pa.Table.from_pylist(items, kept if set(names) == set(kept.names) else None)
    pq.write_table(table(whole) if table else whole, folder / "all.parquet")
    stated["item_tables"], stated["items"] = [{"path": "all.parquet", "rows": len(items)}], len(items)
    ids = pq.read_table(folder / "manifest/members.parquet").to_pylist()
    if members:
        members(ids)
    pq.write_table(pa.Table.from_pylist(ids, manifest.MEMBERS), folder / "manifest/members.parquet")
    files = [
        {"path": name, "sha256": bytes.fromhex(file_sha256(path)), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not manifest.is_table(name := path.relative_to(folder).as_posix()) and name != manifest.MANIFEST
    ]
    if listed:
        listed(files)
    pq.write_table(pa.Table.from_pylist(files, manifest.FILES), folder / "manifest/files.parquet")
    stated["tables"] = {name: file_sha256(folder / name) for name in stated["tables"]}
    stated["files"] = len(files) + len(stated["tables"])
    if root:
        root(stated)
    own = {name: inner for name, inner in stated.items() if name != manifest.OWN_HASH}
    (folder / manifest.MANIFEST).write_bytes(manifest._signed(own))


def of_root(**fields: Any) -> Callable[[Path, Path], None]:
    return lambda folder, _: resealed(folder, root=lambda stated: stated.update(fields))


def of_rows(**fields: Any) -> Callable[[Path, Path], None]:
    return lambda folder, _: resealed(folder, rows=lambda rows: [row.update(fields) for row in rows])


def of_first(**fields: Any) -> Callable[[Path, Path], None]:
    return lambda folder, _: resealed(folder, rows=lambda rows: rows[0].update(fields))


def without(*names: str) -> Callable[[Path, Path], None]:
    return lambda folder, _: resealed(folder, table=lambda table: table.drop_columns(list(names)))


def of_text(change: Callable[[str], str]) -> Callable[[Path, Path], None]:
    """Another text of the root, without a hash that fits."""

    def spoil(folder: Path, _: Path) -> None:
        path = folder / manifest.MANIFEST
        path.write_text(change(path.read_text()))

    return spoil


def linked(name: str) -> Callable[[Path, Path], None]:
    """A file of the dataset becomes a link to one outside that has the same bytes, so that every hash fits."""

    def spoil(folder: Path, outside: Path) -> None:
        path = sorted((folder / name).iterdir())[0] if (folder / name).is_dir() else folder / name
        shutil.move(path, outside / "linked")
        path.symlink_to(outside / "linked")

    return spoil


def linked_folder(folder: Path, outside: Path) -> None:
    shutil.move(folder / "truth", outside / "truth")
    (folder / "truth").symlink_to(outside / "truth")


def chained(folder: Path, outside: Path) -> None:
    """A link inside to a link inside to a file outside."""
    linked("truth/")(folder, outside)
    first = sorted((folder / "truth").iterdir())[0]
    first.rename(folder / "second")
    first.symlink_to("../second")


def list_of_films(folder: Path, outside: Path) -> None:
    """Each truth is a list for FFmpeg that leads to the film itself, which lies beside it or outside."""
    for place, path in enumerate(sorted((folder / "truth").iterdir())):
        target = outside / path.name if place else path.with_name(f"film-{path.name}")
        shutil.move(path, target)
        path.write_text(f"ffconcat version 1.0\nfile {target if place else target.name}\n")
    resealed(folder)


def playlist(folder: Path, outside: Path) -> None:
    for path in (folder / "holes").iterdir():
        shutil.move(path, outside / path.name)
        path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{outside / path.name}\n#EXT-X-ENDLIST\n")
    resealed(folder)


def pipe(folder: Path, _: Path) -> None:
    path = sorted((folder / "truth").iterdir())[0]
    path.unlink()
    os.mkfifo(path)


def pipe_as_table(folder: Path, _: Path) -> None:
    (folder / "all.parquet").unlink()
    os.mkfifo(folder / "all.parquet")


def script(folder: Path, outside: Path) -> None:
    """`datasets` once ran a script of the name of the folder."""
    (folder / f"{folder.name}.py").write_text(f"open({str(outside / 'written')!r}, 'w').write('x')\n")
    resealed(folder)


def no_table(kind: str) -> Callable[[Path, Path], None]:
    def spoil(folder: Path, _: Path) -> None:
        (folder / kind).write_bytes(b"PAR1" + bytes(100) + b"PAR1")
        resealed_root(folder)

    return spoil


def resealed_root(folder: Path) -> None:
    """The hashes of tables, after one was written by hand."""
    stated: Fields = json.loads((folder / manifest.MANIFEST).read_text())
    stated["tables"] = {name: file_sha256(folder / name) for name in stated["tables"]}
    own = {name: inner for name, inner in stated.items() if name != manifest.OWN_HASH}
    (folder / manifest.MANIFEST).write_bytes(manifest._signed(own))


def other_table(kind: str) -> Callable[[Path, Path], None]:
    def spoil(folder: Path, _: Path) -> None:
        pq.write_table(
            pa.table({"path": [1, 2], "sha256": ["x", "y"], "slice": [1.5, 2.5], "item_id": [b"a", b"b"]}), folder / kind
        )
        resealed_root(folder)

    return spoil


def one_slice(**fields: Any) -> Callable[[Path, Path], None]:
    return lambda folder, _: resealed(folder, root=lambda stated: stated["slices"][0].update(fields))


ROOTS: Mapping[str, Callable[[Path, Path], None]] = {
    "deep lists in the root": of_text(lambda text: text.replace('"about": ""', '"about": ' + "[" * DEEP + "]" * DEEP, 1)),
    "deep mappings in the root": of_text(lambda text: '{"a":' * DEEP + "1" + "}" * DEEP),
    "a root that is a list": of_text(lambda _: "[]"),
    "a root that is no text": of_text(lambda _: "\0\x01\x02"),
    "an empty root": of_text(lambda _: ""),
    "a root without its keys": of_text(lambda _: '{"format_version": 4}'),
    "a version of the format that is a list": of_text(lambda text: text.replace('"format_version": 4', '"format_version": [4]')),
    "a number of 5000 digits": of_text(lambda text: text.replace('"format_version": 4', '"format_version": ' + "9" * 5000)),
    "a slice that leads out": one_slice(name="../../../escape"),
    "a slice with a whole path": one_slice(name="/tmp/escape"),
    "a slice that is a number": one_slice(name=7),
    "a slice that turns letters around": one_slice(name=TRICKS),
    "a slice of fewer than no items": one_slice(items=-2),
    "a slice of more items than there are": one_slice(items=2**62),
    "a rule that is a list": one_slice(rule=["x"]),
    "tables that are a list": of_root(tables=["manifest/files.parquet"]),
    "a table outside": of_root(tables={"../../etc/passwd": "0" * 64}),
    "a table of items outside": of_root(item_tables=[{"path": "/etc/passwd", "rows": 3}]),
    "hashes that are none": of_root(tables={"manifest/files.parquet": "zz", "manifest/members.parquet": 3}),
    "more rows than there are": of_root(item_tables=[{"path": "all.parquet", "rows": 10**9}]),
    "a recipe that is a text": of_root(recipe="devil"),
    "leaves that are a list": of_root(recipe={"recipe": "small", "leaves": ["source"]}),
    "facts that are a list": of_root(facts=[1]),
    "held-back truths that are a number": of_root(facts={"held_back": 3}),
    "earlier versions without their ids": of_root(facts={manifest.EARLIER: [{}]}),
    "rules without a value that are a number": of_root(facts={"selection": {"unasked": 3}}),
    "rules without a value that are texts": of_root(facts={"selection": {"unasked": ["x"]}}),
    "rules without a value that say nothing": of_root(facts={"selection": {"unasked": [{"rule": "x"}]}}),
    "removed items without ids": of_root(removed=[{}]),
    "earlier versions that are no versions": of_root(facts={manifest.EARLIER: [{"id": 3}, "x"]}),
}
ROWS: Mapping[str, Callable[[Path, Path], None]] = {
    "deep attributes": of_first(attributes="[" * DEEP + "]" * DEEP),
    "attributes that are a list": of_first(attributes="[1]"),
    "attributes that are no JSON": of_first(attributes="{'a': 1}"),
    "second holes that are not there": of_first(attributes='{"second_holes": [{"hole_sha256": "x"}]}'),
    "joints that are a number": of_first(attributes='{"joints": 3}'),
    "no column of frames": without("frames"),
    "no column of ids": without("item_id"),
    "no column of attributes": without("attributes"),
    "frames that are texts": lambda folder, _: resealed(
        folder,
        table=lambda table: table.set_column(table.column_names.index("frames"), "frames", pa.array(["three"] * len(table))),
    ),
    "fewer than no frames": of_rows(frames=-3),
    "a million frames": of_rows(frames=2**40),
    "a frame rate that is no number": of_rows(fps=float("nan")),
    "a level that is none": of_rows(fill=4096),
    "an item that leads out": of_first(item_id="../../../escape"),
    "a clip that leads out": of_first(clip_id="../../../escape"),
    "a split of another name": of_rows(split="../escape"),
    "items of one id": of_rows(item_id="i0"),
    "a row without an id": of_first(item_id=None),
    "a truth outside": of_first(truth_file_name="../../outside/film.mp4"),
    "a truth with a whole path": of_first(truth_file_name="/etc/passwd"),
    "a truth that is a folder": of_first(truth_file_name="truth"),
    "a truth that is not listed": lambda folder, _: resealed(folder, listed=lambda files: files.clear()),
    "a hole of another size": of_first(hole_file_name="truth/c1.mp4"),
    "members that are no items": lambda folder, _: resealed(folder, members=lambda ids: ids[0].update(item_id="nobody")),
    "members of another slice": lambda folder, _: resealed(folder, members=lambda ids: ids[0].update(slice="other")),
    "a file that is listed outside": lambda folder, _: resealed(folder, listed=lambda files: files[0].update(path="../../x")),
    "a list of files that is none": no_table("manifest/files.parquet"),
    "members that are no table": no_table("manifest/members.parquet"),
    "a list of files with other columns": other_table("manifest/files.parquet"),
    "members with other columns": other_table("manifest/members.parquet"),
}
MEDIA: Mapping[str, Callable[[Path, Path], None]] = {
    "a linked root": linked(manifest.MANIFEST),
    "linked rows": linked("all.parquet"),
    "a linked list of files": linked("manifest/files.parquet"),
    "a linked truth": linked("truth/"),
    "a linked hole": linked("holes/"),
    "a linked folder": linked_folder,
    "a link to a link": chained,
    "lists of films": list_of_films,
    "playlists": playlist,
    "a pipe for a truth": pipe,
    "a pipe for a table": pipe_as_table,
}
CORPUS = {**ROOTS, **ROWS, **MEDIA}
# What is only shown: such a dataset works, and its words do no harm.
SHOWN: Mapping[str, Callable[[Path, Path], None]] = {
    "authors": of_rows(author=TRICKS, page_url=f"https://example.org/{TRICKS}", licence=TRICKS),
    "sources": of_rows(source_uri=f"a{TRICKS}b.mp4", source_id=f"s{TRICKS}"),
    "attributes": of_rows(attributes=json.dumps({f"x{TRICKS}": TRICKS, "y": 1.0})),
    "words of the root": of_root(name=f"small {TRICKS}", about=TRICKS, version=f"1.0.0{TRICKS}", left_out={TRICKS: TRICKS}),
    "rules": one_slice(rule=TRICKS),
    "a script": script,
    "facts that are empty": of_root(facts={"selection": None, manifest.EARLIER: None, "held_back": None, "truth_of": None}),
}
