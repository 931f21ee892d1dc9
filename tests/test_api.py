"""What ``import inpaintbench as ib`` gives programs, on a small benchmark."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from footage import HEIGHT, WIDTH
from made_once import once
from tests.docs.things import MINE, films, program

import inpaintbench as ib
from inpaintbench import frozen
from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.eval.scoring.score_arrays import score_arrays
from inpaintbench.types import Frames, Hole

ROOT = Path(__file__).parents[1]


def _devil(folder: Path) -> None:
    """The workspace of a small benchmark of two films, which are stated to be anybody's."""
    sources, licence = films(folder.with_name("films")), ("--footage-licence", "CC-BY-4.0", "--footage-author", "Ann")
    small = ("--size", f"{WIDTH}x{HEIGHT}", "--design", "slices", "--per-slice", "1", "--workers", "0")
    program("build", "devil", "--sources", sources, "--out", folder, *small, *licence)


@pytest.fixture
def place(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = once(shared, "devil-of-api", _devil)
    shutil.copytree(made / "exports" / "devil", tmp_path / "demo" / "exports" / "devil")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_of_api.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine_of_api", None)


@pytest.fixture
def data(place: Path) -> ib.LoadedDataset:
    return ib.load("demo/exports/devil")


def grey(frames: Frames, hole: Hole, level: int = 128) -> Frames:
    return np.where(hole[..., None], np.uint8(level), frames)


def test_a_dataset_is_a_mapping_of_slices_of_items(data: ib.LoadedDataset) -> None:
    rows = list(data.dataset.items)
    assert list(data) == ["all items", *(part.name for part in data.dataset.slices)]
    assert [item.item_id for item in data["all items"]] == [row["item_id"] for row in rows]
    for part in data.dataset.slices:
        assert [item.item_id for item in data[part.name]] == list(part.item_ids)
    truth, hole = frozen.truth_and_hole(data.root, rows[0])
    item = data["all items"][0]
    np.testing.assert_array_equal(item.truth, truth)
    np.testing.assert_array_equal(item.hole, hole)
    np.testing.assert_array_equal(item.input[~hole], truth[~hole])
    assert item.attributes == rows[0]["attributes"]
    assert "nothing" not in data
    with pytest.raises(KeyError, match="unknown slice"):
        data["nothing"]
    assert item._repr_html_().count("<img") == 3
    assert data._repr_html_().count("<tr>") == 1 + len(data)


def test_a_function_of_this_process_is_run_scored_and_compared(data: ib.LoadedDataset) -> None:
    run = ib.run(data, grey, name="grey")
    assert run.failures == {}
    for item in data["all items"]:
        np.testing.assert_array_equal(run.predictions[item.item_id], grey(item.input, item.hole))
    item = data["all items"][0]
    scores = run.scores
    assert set(scores["method"]) == {"grey"}
    found = scores.query("item_id == @item.item_id and metric == 'psnr' and region == 'hole'")["value"].item()
    assert found == pytest.approx(ib.metrics.psnr(item.truth, run.predictions[item.item_id], item.hole))
    versus = ib.compare(run, data.run("telea"), metrics=["psnr"])
    row = versus.table.query("slice == 'all items' and region == 'hole'").iloc[0]
    wanted = scores.query("metric == 'psnr' and region == 'hole'")["value"].mean()
    assert row["one"] == pytest.approx(wanted)
    assert row["difference"] == pytest.approx(row["one"] - row["other"])
    assert "A is grey, B is telea." in versus._repr_html_()
    with pytest.raises(UnknownNameError, match="metric with values"):
        ib.compare(run, data.run("telea"), metrics=["nothing"])
    with pytest.raises(InputError, match="with itself"):
        ib.compare(run, run)
    page = ib.report(run).page
    assert page == run.folder / "report" / "report.html"
    told = page.read_text()
    assert "It was run by the program that called it" in told
    assert "of_" not in json.loads((page.parent / "report.json").read_text()).get("options", {}).get("grey", "")


def test_what_is_known_not_to_have_changed_is_not_made_again(data: ib.LoadedDataset, place: Path) -> None:
    calls = []

    def counted(frames: Frames, hole: Hole, level: int = 1) -> Frames:
        calls.append(level)
        return grey(frames, hole, level)

    items = len(data["all items"])
    ib.run(data, counted, name="mine", version="1")
    first = len(calls)
    assert first >= items
    ib.run(data, counted, name="mine", version="1")
    assert len(calls) == first
    made = ib.run(data, partial(counted, level=9), name="mine", version="2")
    assert calls[first:].count(9) >= items
    item = data["all items"][0]
    assert (made.predictions[item.item_id][item.hole] == 9).all()
    before = len(calls)
    ib.run(data, counted, name="mine")
    ib.run(data, counted, name="mine")
    assert len(calls) >= before + 2 * items


def test_a_function_of_a_file_goes_on_while_the_file_is_as_it_was(data: ib.LoadedDataset, place: Path) -> None:
    import mine_of_api  # type: ignore[import-not-found]

    first = ib.run(data, mine_of_api.fill, name="mine")
    ledger = sorted(path.stat().st_mtime_ns for path in first.folder.rglob("*.mp4"))
    again = ib.run(data, mine_of_api.fill, name="mine")
    assert sorted(path.stat().st_mtime_ns for path in again.folder.rglob("*.mp4")) == ledger
    by_name = ib.run(data, "mine_of_api:fill", name="by_name")
    item = data["all items"][0].item_id
    np.testing.assert_array_equal(by_name.predictions[item], again.predictions[item])


def test_a_function_of_a_program_without_a_file_is_run(data: ib.LoadedDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = ModuleType("piped")
    piped.__file__ = "<stdin>"
    exec("def fill(frames, hole):\n    return frames | 64 * hole[..., None].astype('uint8')", vars(piped))
    monkeypatch.setitem(sys.modules, "piped", piped)
    assert len(ib.run(data, piped.fill, name="piped").predictions) == len(data["all items"])


def test_failures_are_told_item_by_item(data: ib.LoadedDataset) -> None:
    def some(frames: Frames, hole: Hole) -> Frames:
        if some.calls:  # type: ignore[attr-defined]
            raise ValueError("not this one")
        return grey(frames, hole)

    some.calls = 0  # type: ignore[attr-defined]
    slices = [data.dataset.slices[0].name]
    with pytest.raises(InputError, match="give a name"):
        ib.run(data, lambda frames, hole: frames)
    with pytest.raises(InputError, match="runs in this process"):
        ib.run(data, some, workers=1)
    with pytest.raises(UnknownNameError, match="telea"):
        data.run("tele")
    some.calls = 1  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match=r"some failed on (\d+) of \1 items; the first: ValueError: not this one"):
        run = ib.run(data, some, slices=slices)
    assert sorted(run.failures) == sorted(data.dataset.slices[0].item_ids)
    assert all("not this one" in reason for reason in run.failures.values())
    assert len(run.predictions) == 0


def test_what_is_no_method_is_refused_in_one_sentence(data: ib.LoadedDataset) -> None:
    with pytest.raises(InputError, match="5 is no method: give a callable"):
        ib.run(data, 5, name="five")  # type: ignore[arg-type]


def test_a_method_with_a_usual_mistake_is_refused(data: ib.LoadedDataset) -> None:
    def swapped(frames: Frames, hole: Hole) -> Frames:
        return frames[..., ::-1]

    with pytest.raises(InputError, match="despite_check=True"):
        ib.run(data, swapped)
    assert ib.run(data, swapped, despite_check=True).failures == {}


# Metrics of arrays


def clips(count: int) -> tuple[Frames, Frames, Hole]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 256, (count, 3, 40, 48, 3), dtype=np.uint8)
    hole = np.zeros(truth.shape[:4], np.bool_)
    hole[:, :, 10:30, 10:30] = True
    noise = rng.integers(-9, 10, truth.shape)
    return truth, np.clip(truth + noise * np.arange(1, count + 1).reshape(-1, 1, 1, 1, 1), 0, 255).astype(np.uint8), hole


@pytest.mark.parametrize("metric", ["psnr", "ssim", "mse"])
def test_a_metric_gives_what_the_protocol_gives(metric: str) -> None:
    truth, result, hole = (array[0] for array in clips(1))
    wanted = {row.region: row.value for row in score_arrays(truth, hole, result, metrics=[metric])}
    function = getattr(ib.metrics, metric)
    for region, value in wanted.items():
        assert function(truth, result, hole, region=region) == value
    assert function(truth, result, hole) == wanted["hole"]


def test_batches_and_single_clips_come_to_the_same() -> None:
    truth, result, hole = clips(4)
    single, batched = ib.metrics.psnr.over_batches(), ib.metrics.psnr.over_batches()
    for clip in zip(truth, result, hole, strict=True):
        single.add(*clip)
    batched.add(truth[:3], result[:3], hole[:3])
    batched.add(truth[3:], result[3:], hole[3:])
    values = [ib.metrics.psnr(*clip) for clip in zip(truth, result, hole, strict=True)]
    assert single.values == batched.values == values
    assert single.value() == batched.value() == pytest.approx(np.mean(values))


def test_the_example_of_every_public_name_runs(data: ib.LoadedDataset, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)) or True)
    item = data["all items"][0]
    run = ib.run(data, "navier_stokes")
    versus = ib.compare(run, ib.run(data, "telea"))
    names = {
        "ib": ib, "data": data, "item": item, "run": run, "versus": versus, "plot": versus.plot(),
        "truth": item.truth, "hole": item.hole,
        "result": run.predictions[item.item_id], "mine": SimpleNamespace(fill=grey),
    }  # fmt: skip
    for name in ib.__all__:
        told = " ".join((inspect.getdoc(getattr(ib, name)) or "").split())
        examples = [code for code in re.findall(r"(?:Example|[a-z ]): ``([^`]+)``", told) if re.search(r"[(\[]", code)]
        assert examples, f"{name} has no example"
        for code in examples:
            assert eval(code, dict(names)) is not None, code
    assert opened == [(run.folder / "report" / "report.html").resolve().as_uri()]


def test_what_cannot_be_measured_says_why() -> None:
    truth, result, hole = clips(1)
    with pytest.raises(InputError, match="wanted uint8"):
        ib.metrics.psnr(truth[0].astype(np.float32), result[0], hole[0])
    with pytest.raises(InputError, match="give as many"):
        ib.metrics.psnr.over_batches().add(truth, result, hole[0][None][:0])
    with pytest.raises(UnknownNameError, match="region"):
        ib.metrics.psnr(truth[0], result[0], hole[0], region="elsewhere")
    with pytest.raises(InputError, match="over_batches"):
        ib.metrics.fid(truth[0], result[0], hole[0])
    with pytest.raises(NotMeasurable):
        ib.metrics.psnr.over_batches().value()
    with pytest.raises(AttributeError, match="did you mean 'psnr'"):
        ib.metrics.psn  # noqa: B018
    assert "ssim" in dir(ib.metrics)


# The package


def test_importing_brings_nothing_heavy() -> None:
    code = (
        "import sys; import inpaintbench as ib; before = set(sys.modules); "
        "heavy = {'torch', 'pandas', 'cv2', 'numpy', 'pyarrow', 'altair', 'scipy'}; assert not heavy & before, heavy & before; "
        "ib.load, ib.run, ib.metrics.psnr, ib.compare; assert 'torch' not in sys.modules and 'pandas' not in sys.modules; "
        "assert set(ib.__all__) <= set(dir(ib)); [getattr(ib, name) for name in ib.__all__]; "
        "assert not hasattr(ib, 'nothing')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})


PROGRAM = """
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt

import inpaintbench as ib


def fill(frames: npt.NDArray[np.uint8], hole: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    return frames


data = ib.load(Path("demo"))
item = data["camera_motion-high"][0]
run: ib.Run = ib.run(data, fill, name="mine", version="1", slices=["camera_motion-high"])
value: float = ib.metrics.psnr(item.truth, run.predictions[item.item_id], item.hole)
versus = ib.compare(run, data.run("telea"))
saved: Path = versus.plot("psnr").save("psnr.svg")
worst = run.scores["value"].min()
opened: bool = ib.report(run).open()
failed: dict[str, str] = run.failures
"""


@pytest.mark.long
def test_types_of_a_program_outside_are_checked_strictly(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(PROGRAM + 'ib.lod("x")\nib.run(data, 3)\nwrong: str = ib.metrics.psnr\n')
    places = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "--cache-dir", str(tmp_path)]
    good = subprocess.run([*words, "good.py"], cwd=tmp_path, env=places, capture_output=True, text=True)
    assert good.returncode == 0, good.stdout
    bad = subprocess.run([*words, "bad.py"], cwd=tmp_path, env=places, capture_output=True, text=True)
    assert bad.stdout.count("error:") == 3, bad.stdout


def test_the_notebook_of_the_examples_runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(ROOT / "examples" / "first_run.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(place)}}).execute()
    shown = [out.data for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs if "data" in out]
    texts, pages = [data.get("text/plain", "") for data in shown], [data.get("text/html", "") for data in shown]
    assert "all items" in pages[0]
    assert pages[1].count("<img") == 3
    assert any("psnr" in text and "ssim" in text for text in texts)
    assert any(text.startswith("({}, (") for text in texts)
    assert any("A is mine, B is telea." in page for page in pages)
    assert any("image/svg+xml" in data for data in shown)
    assert any("report.html" in page for page in pages)
    assert not [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs if out.output_type == "error"]
