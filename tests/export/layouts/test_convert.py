"""What holds for every layout: equal bytes, sums, whole or not at all, and refusals in one sentence."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
import yaml
from old_format import one_file, write_fields
from typer.testing import CliRunner

from inpaintbench.cli.export import convert as command
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError, UnknownNameError, VerifyError, WorkspaceError
from inpaintbench.export.layouts import LAYOUTS
from inpaintbench.export.layouts.convert import convert
from inpaintbench.export.layouts.shards import by_bytes
from inpaintbench.files import without_controls


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_equal_datasets_give_equal_bytes_and_sums_that_hold(
    layout: str, kind: str, frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    dataset = frozen_of(kind)
    shutil.copytree(dataset, tmp_path / "elsewhere")
    made = convert(dataset, layout=layout, out=tmp_path / "one")
    told: list[tuple[str, int, int]] = []
    convert(tmp_path / "elsewhere", layout=layout, out=tmp_path / "other", progress=lambda *what: told.append(what))
    found = contents(tmp_path / "one")
    assert contents(tmp_path / "other") == found
    assert (made.files, made.bytes) == (len(found), sum(map(len, found.values())))
    assert [done for _, done, _ in told] == list(range(1, len(told) + 1))
    assert told[-1] == (layout, len(told), len(told))
    assert len(told) >= made.items
    sums = dict(reversed(line.split("  ", 1)) for line in found.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}
    origin = json.loads(found["layout.json"])
    assert origin["manifest_sha256"] == hashlib.sha256((dataset / "dataset.json").read_bytes()).hexdigest()
    assert all(str(tmp_path).encode() not in data for data in found.values())
    assert found["NOTICE"] == (dataset / "NOTICE").read_bytes()  # all of it was converted


@pytest.mark.parametrize("layout", ["devil", "devil_sets"])
def test_what_does_not_fit_is_refused_with_the_layouts_that_do(
    layout: str, frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    dataset = Path(shutil.copytree(frozen_of("pictures"), tmp_path / "dataset"))
    manifest = one_file(dataset)
    manifest["items"] = [row | {"target_prompt": "a red car"} for row in manifest["items"]]
    write_fields(dataset, manifest)
    check_refused(dataset, layout, tmp_path)


def check_refused(dataset: Path, layout: str, folder: Path) -> None:
    with pytest.raises(InputError, match=rf"has .*, but the layout '{layout}' is for .*; take embedded or webdataset"):
        convert(dataset, layout=layout, out=folder / "out")
    assert not list(folder.glob("*out*"))


def test_an_older_conversion_is_replaced_and_anything_else_is_left_alone(
    frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    dataset, out = frozen_of("pictures"), tmp_path / "out"
    out.mkdir()
    (tmp_path / ".out.01234567.tmp").mkdir()  # of a run that was killed
    convert(dataset, layout="devil", out=out)
    convert(dataset, layout="webdataset", out=out)
    assert sorted(path.name for path in out.iterdir()) == [
        "NOTICE", "README.md", "SHA256SUMS", "items.jsonl", "layout.json", "test-000000.tar",
    ]  # fmt: skip
    assert not list(tmp_path.glob(".out*"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all my work")
    for place, why in ((tmp_path / "mine", "is not a converted dataset"), (dataset / "inside", "lie in each other"),
                       (dataset.parent, "lie in each other")):  # fmt: skip
        with pytest.raises(InputError, match=why):
            convert(dataset, layout="webdataset", out=place)
    with pytest.raises(InputError, match="takes for a pattern"):
        convert(dataset, layout="embedded", out=tmp_path / "what?")
    with pytest.raises(WorkspaceError, match="cannot be written: Not a directory"):
        convert(dataset, layout="webdataset", out=tmp_path / "mine" / "thesis.txt" / "out")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all my work"


def test_a_damaged_dataset_is_never_copied_on(layout: str, kind: str, frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = Path(shutil.copytree(frozen_of(kind), tmp_path / "dataset"))
    convert(dataset, layout=layout, out=tmp_path / "out")
    before = contents(tmp_path / "out")
    hole = sorted((dataset / "holes").iterdir())[-1]
    hole.write_bytes(hole.read_bytes()[:-1] + b"?")
    with pytest.raises(VerifyError, match=f"holes/{hole.name} .* differs from the manifest"):
        convert(dataset, layout=layout, out=tmp_path / "out")
    hole.unlink()
    with pytest.raises(VerifyError, match=f"holes/{hole.name} .* is missing"):
        convert(dataset, layout=layout, out=tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert sorted(path.name for path in tmp_path.iterdir() if "cache" not in path.name) == ["dataset", "out"]


HOSTILE = "Ann\n\n# Heading\n---\n<script>alert(1)</script> [here](x) | \u202e\0 ``` & `code`"


def test_words_of_others_are_no_markdown_and_no_lines_of_their_own(
    layout: str, kind: str, frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    dataset = Path(shutil.copytree(frozen_of(kind), tmp_path / "dataset"))
    manifest = one_file(dataset)
    manifest["name"] = HOSTILE
    told = {"author": HOSTILE, "licence": HOSTILE, "page_url": f"https://example.org/{HOSTILE}", "source_uri": HOSTILE}
    manifest["items"] = [row | told for row in manifest["items"]]
    manifest["slices"] = [part | {"rule": HOSTILE} for part in manifest["slices"]]
    write_fields(dataset, manifest)
    convert(dataset, layout=layout, out=tmp_path / "out")
    text, notice = ((tmp_path / "out" / name).read_text() for name in ("README.md", "NOTICE"))
    assert all(line.isprintable() for line in [*text.split("\n"), *notice.split("\n")])
    assert not any(line.startswith(("#", "-", "<")) for line in notice.splitlines() if not line.startswith("- Ann # Heading"))
    if layout == "embedded":
        _, head, text = text.split("---\n", 2)
        configs = yaml.safe_load(head)["configs"]
        assert all(one["description"].startswith(without_controls(HOSTILE)) for one in configs)
    # What it shows is what the program writes, and these words as they are.
    harmless = r"Ann \# Heading --- \<script\>alert(1)\</script\> \[here\](x) \| \\u202e\\u0000 \`\`\` &amp; \`code\`"
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        f"# {harmless}", "## What lies where", *(["## Load"] if layout == "embedded" else []), "## Slices", "## Licences",
    ]  # fmt: skip
    assert f"| {harmless} | https://example.org/{harmless} |" in text
    assert not re.search(r"(?<!\\)<", text)
    assert "---" not in text.splitlines()


def test_a_part_of_a_dataset_names_its_own_sources_alone(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = Path(shutil.copytree(frozen_of("pictures"), tmp_path / "dataset"))
    manifest = one_file(dataset)
    authors = {source: f"Author{place}." for place, source in enumerate(sorted({row["source_id"] for row in manifest["items"]}))}
    assert len(authors) > 1
    manifest["items"] = [row | {"author": authors[row["source_id"]]} for row in manifest["items"]]
    first = manifest["items"][0]
    manifest["slices"].append({"name": "one", "rule": "the first", "item_ids": [first["item_id"]]})
    write_fields(dataset, manifest)
    convert(dataset, layout="webdataset", out=tmp_path / "out", slices=["one"])
    for name in ("NOTICE", "README.md"):
        text = (tmp_path / "out" / name).read_text()
        assert [author for author in authors.values() if author in text] == [authors[first["source_id"]]], name
    assert "  NOTICE\n" in (tmp_path / "out" / "SHA256SUMS").read_text()


@pytest.mark.parametrize("name", ["../../outside", "/outside", "..", "", "a\\b", "NOTICE"])
def test_a_slice_is_never_written_outside(name: str, frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = Path(shutil.copytree(frozen_of("pictures"), tmp_path / "dataset"))
    manifest = one_file(dataset)
    manifest["slices"][0]["name"] = name
    write_fields(dataset, manifest)
    with pytest.raises((InputError, VerifyError), match=r"which cannot be a name|has the name of a file"):
        convert(dataset, layout="devil", out=tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


def test_misspelt_names_get_the_nearest(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown layout 'webdatset', did you mean 'webdataset'"):
        convert(frozen_of("pictures"), layout="webdatset", out=tmp_path / "out")
    with pytest.raises(UnknownNameError, match="unknown slice 'area-0-2', did you mean 'area-0-20'"):
        convert(frozen_of("pictures"), layout="webdataset", out=tmp_path / "out", slices=["area-0-2"])


def test_a_dataset_without_truths_is_refused(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = Path(shutil.copytree(frozen_of("pictures"), tmp_path / "dataset"))
    manifest = one_file(dataset)
    gone = manifest["items"][2].pop("truth_file_name")
    write_fields(dataset, manifest)
    with pytest.raises(InputError, match=f"item {manifest['items'][2]['item_id']} .* comes without its truth"):
        convert(dataset, layout="webdataset", out=tmp_path / "out")
    assert (dataset / gone).exists()


def test_runs_of_rows_keep_the_order_and_stay_below_the_limit(tmp_path: Path) -> None:
    sizes = [40, 60, 1, 100, 101, 30, 30, 40, 1]
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.png").write_bytes(bytes(size))
    rows = [{"truth_file_name": f"{number}.png"} for number in range(len(sizes))]
    runs = [[sizes[rows.index(row)] for row in run] for run in by_bytes(rows, tmp_path, most=100)]
    assert runs == [[40, 60], [1], [100], [101], [30, 30, 40], [1]]
    assert list(by_bytes([], tmp_path, most=100)) == []


def test_the_command_tells_what_it_wrote_and_refuses_constants_of_other_layouts(
    frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    program = typer.Typer()
    program.command()(expanded(command))
    arguments = [str(frozen_of("pictures")), "--layout", "devil", "--out", str(tmp_path / "out"), "--slice", "area-0-20"]
    done = CliRunner().invoke(program, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "area-0-20").is_dir()
    with pytest.raises(InputError, match="layout 'devil' has no constant 'shard_megabytes'"):
        CliRunner().invoke(program, [*arguments, "--shard-megabytes", "3"], catch_exceptions=False)


def test_a_layout_says_what_it_takes_and_where_things_lie(layout: str) -> None:
    leaf = LAYOUTS.get(layout)
    assert leaf.name == layout
    assert leaf.takes
    assert "```" in leaf.about
