"""`eval run`, in this process: how methods are typed, slices, callables, programs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from click.testing import Result
from old_format import write_one_file
from scoring_probes import write_items
from tests.eval.adapters.programs import cloned
from typer.testing import CliRunner
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.cli.evaluate import app as evaluate
from inpaintbench.cli.evaluate_options import any_method, label_of
from inpaintbench.cli.options import expanded
from inpaintbench.cli.predicting import Wanted, predict
from inpaintbench.cli.running_methods import check_method, list_layouts, run
from inpaintbench.errors import InputError, RunError, UnknownNameError
from inpaintbench.eval.adapters.checking import MADE, Checked
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.proving import proof, repair
from inpaintbench.eval.scoring.run_folder import bind, not_run, tasks_in
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.frozen import load
from inpaintbench.types import Prediction, Slice
from inpaintbench.workspace import Workspace

app = typer.Typer()
app.command()(expanded(run))
app.command()(expanded(predict))
app.command("layouts")(expanded(list_layouts))
app.command("check")(expanded(check_method))
PROGRAM = Wanted(time_limit=60).program("plain")
SLICES = (Slice("low", "", ("item 0", "item 1")), Slice("high", "", ("item 2",)), Slice("both", "", ("item 1", "item 2")))
MINE = """
def flat(frames, hole, level=7):
    frames[hole] = level  # a copy: nobody minds
    return frames

def wrong(frames, hole):
    return frames[:, ::2]

def leaves(frames, hole):
    import sys
    sys.exit(0)

def nan(frames, hole):
    given = frames.astype("float32")
    given[hole] = float("nan")
    return given

def fails(frames, hole):
    import sys
    print("loaded", hole.shape)
    print("card is full", file=sys.stderr)
    raise RuntimeError("out of memory")

SETTING = 3
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "data"
    (folder.parent / "data").mkdir()
    dataset = write_items(folder, count=3, slices=SLICES, frames=(2, 2, 2))
    write_one_file(folder, dataset)
    return folder


@pytest.fixture(autouse=True)
def with_callables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A current folder of one's own, with a module in it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine_for_run", raising=False)
    (tmp_path / "mine_for_run.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    address = "inpaintbench.eval.methods.brought:PythonCallable"
    monkeypatch.setattr(METHODS, "_addresses", METHODS.addresses() | {"python_callable": address})


def call(made: Path, *arguments: object) -> Result:
    done = call_any(made, *arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def call_any(made: Path, *arguments: object) -> Result:
    """``call`` whose errors are looked at."""
    words = ["run", made, "--run", "RUN", "--workers", 0, *arguments]
    return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "400"})


def levels(method: str) -> dict[str, int]:
    """The level of each predicted hole, which is flat."""
    workspace, found = Workspace("RUN", create=False), {}
    for row in workspace.table("predictions", Prediction, step=f"predict.{method}"):
        [found[row.item_id]] = np.unique(video.read_frames(workspace.blobs.path(row.blob))[:, 10:30, 20:50]).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("telea", MethodSpec("telea", "telea")),
        ("telea,radius_pixels=9", MethodSpec("telea", "telea", {"radius_pixels": 9})),
        ("wide=telea,radius_pixels=9", MethodSpec("wide", "telea", {"radius_pixels": 9})),
        ("mine.part:Thing.fill", MethodSpec("mine.part.Thing.fill", "python_callable", {"address": "mine.part:Thing.fill"})),
        ("a=m:f,x=[1,2],y=b", MethodSpec("a", "python_callable", {"address": "m:f", "arguments": {"x": [1, 2], "y": "b"}})),
        ("p=sh -c 'a=b,c'", MethodSpec("p", "command", {"command": "sh -c 'a=b,c'", **PROGRAM})),
    ],
)
def test_what_people_type(text: str, spec: MethodSpec) -> None:
    assert any_method(text, program=PROGRAM) == spec


def test_a_callable_is_called_by_its_module_and_name() -> None:
    given = any_method("mine:fill,level=9", program=PROGRAM)
    assert (given.leaf, given.constants) == ("python_callable", {"address": "mine:fill", "arguments": {"level": 9}})


def test_a_method_is_found_by_what_it_was_called_or_by_its_label() -> None:
    assert [label_of(text) for text in ("mine:fill", "mine.fill", "telea")] == ["mine.fill", "mine.fill", "telea"]
    assert any_method("mine:fill", program=PROGRAM).label == label_of("mine:fill")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tela", r"unknown method 'tela', did you mean 'telea', MODULE:NAME, or LABEL=PROGRAM that can be run\?"),
        ("telea,radius=9", "method 'telea' has no constant 'radius', did you mean 'radius_pixels'"),
        ("telea,radius_pixels", "'radius_pixels' is not NAME=VALUE"),
        ("sh -c true", "the program 'sh -c true' needs a label: --method 'LABEL=sh -c true'"),
        ("x=no-such-program --fast", "unknown method 'no-such-program --fast'"),
    ],
)
def test_what_is_typed_wrong_says_the_way_out(text: str, reason: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=reason):
        any_method(text, program=PROGRAM)


def test_the_page_repeats_the_methods_as_they_were_asked_for(made: Path) -> None:
    done = call(made, "--method", "mine_for_run:flat", "--report")
    assert done.exit_code == 0, done.output
    assert [line.split()[:3] for line in done.output.splitlines() if "Next:" in line] == [["Next:", "inpaintbench", "view"]]
    page = Path("RUN/report/report.html").read_text()
    folders = f"{made.absolute()} --run {Path('RUN').absolute()}"
    assert f"inpaintbench eval run {folders} --method mine_for_run:flat --protocol " in page
    assert f"inpaintbench eval run {folders} <span" in page, "a method of one's own"
    assert "RUN " not in page.replace(str(Path("RUN").absolute()), "")


def test_the_divisor_is_the_layouts_unless_given() -> None:
    assert PROGRAM == {"time_limit_seconds": 60, "divisor": 1, "layout": "plain"}
    assert Wanted(time_limit=60).program("devil-sttn")["divisor"] == [432, 240]
    assert Wanted(time_limit=60, divisor=3).program("devil-sttn")["divisor"] == 3


def test_one_slice_after_the_other_is_the_whole(made: Path) -> None:
    done = call(made, "--method", "mine_for_run:flat", "--slice", "high")
    assert "mine_for_run.flat: 1 predictions, 0 failed" in done.output
    assert "mine_for_run.flat was not run on 2 of 3 items (no item of low; some of both)" in done.output
    assert levels("mine_for_run.flat") == {"item 2": 7}
    done = call(made, "--method", "mine_for_run:flat", "--slice", "low", "--slice", "high")
    assert "3 predictions" in done.output
    assert "not run" not in done.output
    times = Workspace("RUN").ledger("predict.mine_for_run.flat").read().values()
    assert len(times) == 3  # what was there was not made again
    assert levels("mine_for_run.flat") == {"item 0": 7, "item 1": 7, "item 2": 7}
    call(made, "--method", "mine_for_run:flat", "--slice", "high")
    assert len(levels("mine_for_run.flat")) == 3


def test_one_command_goes_to_the_report(made: Path) -> None:
    done = call(made, "--method", "telea", "--report")
    assert done.exit_code == 0
    page = Path("RUN/report/report.html")
    *_, where, follows = done.output.splitlines()
    assert where == f"Report: {page.resolve()}"
    assert follows.startswith("Next: inpaintbench view ")
    assert done.output.count("Next: ") == 1
    assert "telea" in page.read_text()
    assert Path("RUN/report/scores.csv").read_text().count("\n") > len(load(made).items)


def test_of_a_slice_only_what_was_run_is_counted_and_reasons_are_of_the_metric(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "no weights"))
    done = call(made, "--method", "telea", "--slice", "high", "--report")
    assert done.exit_code == 0
    [counted] = [line for line in done.output.splitlines() if " scored under " in line]
    assert counted.startswith("1 item scored under devil/corrected, ")
    assert "telea was not run on 2 of 3 items" in done.output
    unmeasured = [line for line in done.output.splitlines() if line.startswith("not measured:")]
    assert any("lpips" in line and "models fetch" in line for line in unmeasured)
    assert not any("was not run" in line for line in unmeasured)
    for one in json.loads(Path("RUN/report/report.json").read_text())["unmeasured"]:
        assert one["reason"] != "the method was not run on this item"


def test_a_method_that_cannot_run_here_keeps_no_other_from_running(made: Path, tmp_path: Path) -> None:
    dataset = load(made)
    hiding = Path(shutil.copytree(made, tmp_path / "hiding"))
    hidden = replace(dataset, items=tuple({**row, "hole_is_given": False} for row in dataset.items))
    write_one_file(hiding, hidden)
    done = call(hiding, "--method", "telea", "--method", "blank")
    assert done.exit_code == 0
    assert "left out: method 'telea' needs the hole, which 'probes' does not give; `--oracle-mask` gives it" in done.output
    assert "blank: 3 predictions, 0 failed" in done.output
    with pytest.raises(InputError, match="method 'telea' needs the hole"):
        call(hiding, "--method", "telea")
    nowhere = {"hole_file_name": None, "hole_sha256": None, "hole_is_given": False}
    write_one_file(hiding, replace(hidden, items=tuple({**row, **nowhere} for row in hidden.items)))
    with pytest.raises(InputError, match=r"does not have: its pictures are degraded everywhere$"):  # and nothing can show it
        call(hiding, "--method", "telea")


def test_another_version_with_the_same_content_is_the_same_dataset(made: Path, tmp_path: Path) -> None:
    assert call(made, "--method", "blank").exit_code == 0
    dataset = load(made)
    other = Path(shutil.copytree(made, tmp_path / "other"))
    write_one_file(other, replace(dataset, version="2.0.0"))
    bind(Workspace("RUN", create=False), other)
    write_one_file(other, replace(dataset, items=dataset.items[1:], slices=()))
    with pytest.raises(InputError, match="holds results on another dataset than"):
        bind(Workspace("RUN", create=False), other)


def test_predictions_of_another_version_are_left_out_and_told(made: Path) -> None:
    call(made, "--method", "flat=mine_for_run:flat")
    done = call(made, "--method", "flat=mine_for_run:flat,level=9", "--slice", "high")
    assert "flat was not run on 2 of 3 items" in done.output
    assert "2 earlier predictions were of another version or other constants of flat, and are left out" in done.output
    assert levels("flat") == {"item 2": 9}
    assert not_run(Workspace("RUN"), load(made), "flat") == ["item 0", "item 1"]


def test_failures_of_other_items_stay_too(made: Path) -> None:
    failing = f"p={shlex.quote(sys.executable)} -S -c 'import sys; sys.exit(4)'"
    with pytest.raises(RunError, match="not one prediction was made"):
        call(made, "--method", failing, "--slice", "low")
    with pytest.raises(RunError):
        call(made, "--method", failing, "--slice", "high")
    rows = Workspace("RUN").table("rejected", Rejection, step="predict.p")
    assert sorted(row.subject_id for row in rows) == ["item 0", "item 1", "item 2"]
    assert all("ended with exit status 4" in row.reason for row in rows)


def test_a_program_of_a_layout_is_a_method(made: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "go.sh").write_text(
        '#!/bin/sh\nfor f in "$1"/*_gt.png; do cp $f "$2/$(basename $f _gt.png)_pred.png"; done\n'
    )
    (tmp_path / "own" / "go.sh").chmod(0o700)
    done = call(
        made, "--method", "script=./go.sh", "--command-layout", "devil-vinet", "--command-folder", "own", "--slice", "high",
        "--reference", "script",
    )  # fmt: skip
    assert "script: 1 predictions, 0 failed" in done.output
    assert levels("script") == {"item 2": 0}


def test_one_run_takes_all_kinds_and_refuses_one_label_twice(made: Path) -> None:
    call(
        made, "--method", "telea", "--method", "wide=telea,radius_pixels=9", "--method", "f=mine_for_run:flat", "--slice", "high"
    )
    assert Workspace("RUN").steps("predictions") == ["predict.f", "predict.telea", "predict.wide"]
    with pytest.raises(InputError, match="two methods are called 'telea'; give each its own label, such as --method other=NAME"):
        call(made, "--method", "telea", "--method", "telea,radius_pixels=9")
    with pytest.raises(InputError, match="two methods are called 'telea'"):
        call(made, "--method", "telea", "--method", "TELEA=telea,radius_pixels=9")


def test_predict_takes_constants_too(made: Path) -> None:
    words = ["predict", made, "--run", "RUN", "--workers", 0, "--method", "low=telea,radius_pixels=2"]
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert "low: 3 predictions, 0 failed" in done.output


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nowhere_to_be_found:fill", "the module of method 'nowhere_to_be_found:fill' cannot be imported: No module named"),
        ("mine_for_run:flatt", "module 'mine_for_run' holds nothing callable named 'flatt'; a method is MODULE:NAME"),
        ("mine_for_run:SETTING", "holds nothing callable named 'SETTING'"),
    ],
)
def test_a_callable_that_is_none_is_told_before_anything_runs(text: str, reason: str, made: Path) -> None:
    with pytest.raises(InputError, match=reason):
        call(made, "--method", text)
    assert not Path("RUN").exists()


def test_a_callable_that_gives_another_shape_is_a_failure_with_its_reason(made: Path) -> None:
    with pytest.raises(RunError, match="not one prediction was made"):
        call(made, "--method", "mine_for_run:wrong", "--slice", "high", "--despite-check")
    [row] = Workspace("RUN").table("rejected", Rejection, step="predict.mine_for_run.wrong")
    assert "gave uint8(2, 24, 64, 3), wanted uint8(2, 48, 64, 3)" in row.reason


@pytest.mark.parametrize("workers", [0, 1])
def test_a_callable_that_ends_its_process_harms_no_other_method(made: Path, workers: int) -> None:
    both = ("--method", "mine_for_run:leaves", "--method", "telea", "--slice", "high", "--workers", workers)
    done = call_any(made, *both)
    assert str(done.exception) == "mine_for_run.leaves made no prediction"
    assert "telea: 1 predictions, 0 failed" in done.output
    [row] = Workspace("RUN").table("rejected", Rejection, step="predict.mine_for_run.leaves")
    assert row.reason.startswith("it ended its process with exit status 0 (log: logs/methods/mine_for_run.leaves/")


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.long)])
def test_what_a_callable_said_is_kept_and_named_where_it_fails(made: Path, workers: int) -> None:
    done = call_any(made, "--method", "mine_for_run:fails", "--method", "mine_for_run:flat", "--workers", workers)
    assert str(done.exception) == "mine_for_run.fails made no prediction"
    log = Path("RUN/logs/methods/mine_for_run.fails/item 0.txt")
    # One line for all, with the log of the first, and nothing of what it printed between.
    assert f"  3 items, such as item 0: RuntimeError: out of memory (log: {log})\n" in done.output
    assert "card is full" not in done.output
    heading, *said = log.read_text().splitlines()
    assert heading == "mine_for_run:fails()"
    assert said[:3] == ["loaded (2, 48, 64)", "card is full", "Traceback (most recent call last):"]
    assert said[-1] == "RuntimeError: out of memory"
    assert not log.parent.with_name("mine_for_run.flat").exists() or not [*log.parent.with_name("mine_for_run.flat").iterdir()]
    [first, *_] = Workspace("RUN").table("rejected", Rejection, step="predict.mine_for_run.fails")
    assert first.reason == "RuntimeError: out of memory (log: logs/methods/mine_for_run.fails/item 0.txt)"


def test_a_callable_that_gives_no_numbers_says_in_how_many_pixels(made: Path) -> None:
    with pytest.raises(RunError, match="not one prediction was made"):
        call(made, "--method", "mine_for_run:nan", "--slice", "high", "--despite-check")
    [row] = Workspace("RUN").table("rejected", Rejection, step="predict.mine_for_run.nan")
    assert "gave float32(2, 48, 64, 3) with NaN in 1,200 of 6,144 pixels, wanted uint8(2, 48, 64, 3) (log: " in row.reason


@pytest.mark.long
def test_an_editing_preset_gets_both_prompts_and_the_seed(made: Path, tmp_path: Path) -> None:
    edits = tmp_path / "edits"
    dataset = write_items(edits, count=2, frames=(5, 5))
    prompts = {"source_prompt": "a square", "hole_file_name": None, "hole_is_given": False, "task": "SE"}
    rows = [
        {**row, **prompts, "target_prompt": f"it's a {row['item_id']}", "input_file_name": row["truth_file_name"]}
        for row in dataset.items
    ]
    write_one_file(edits, replace(dataset, items=tuple(rows)))
    program = ("--program", str(cloned("tokenflow", tmp_path / "clone")))
    preset = f"tokenflow,seed=41,device=any,python={sys.executable}"
    (tmp_path / "mine.toml").write_text(
        'task = ["editing"]\nframe = "{}.png"\nprediction = "{}.png"\n'
        """command = "sh -c 'echo $2 to $3 by $4; cp $0/*.png $1' {input} {output} {source_prompt} {prompt} {seed}"\n"""
    )
    done = call(edits, "--method", preset, "--method", "mine.toml,seed=7", *program)
    assert "tokenflow: 2 predictions, 0 failed" in done.output
    assert "mine: 2 predictions, 0 failed" in done.output
    assert "\n42 it's a item 1 without ugly, blurry" in Path("RUN/logs/methods/tokenflow/item 1.txt").read_text()
    assert "\na square to it's a item 1 by 7\n" in Path("RUN/logs/methods/mine/item 1.txt").read_text()
    workspace = Workspace("RUN")
    [row, _] = workspace.table("predictions", Prediction, step="predict.tokenflow")
    truth = video.read_frames(edits / "truth 0.mp4")
    np.testing.assert_array_equal(video.read_frames(workspace.blobs.path(row.blob)), 255 - truth)
    assert "mine gives the input back unchanged (on item item 0, 5 frames of " in done.output


def test_a_name_of_both_a_method_and_a_preset_is_the_program_where_a_folder_is_given() -> None:
    with pytest.raises(InputError, match=r"no file 'big-lama\.pt' to read LaMa from"):
        any_method("lama,weights=big-lama.pt", program=PROGRAM)
    for text, program in (("lama", PROGRAM | {"folder": "here"}), ("lama,folder=here", PROGRAM)):
        given = any_method(text, program=program)
        assert (given.leaf, given.constants["layout"], given.constants["folder"]) == ("command", "lama", "here")
    with pytest.raises(UnknownNameError) as told:
        any_method("zzzz", program=PROGRAM)
    assert str(told.value).count("lama") == 1


@pytest.mark.parametrize("text", ["def (", "raise RuntimeError('no licence')", "import sys; sys.exit(4)"])
def test_a_module_that_fails_when_it_is_imported_is_one_sentence(made: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "broken_for_run.py").write_text(text)
    with pytest.raises(InputError, match=r"the module of method 'broken_for_run:f' cannot be imported: \w+(Error|Exit): "):
        call(made, "--method", "broken_for_run:f")


def test_a_changed_module_is_run_again(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(made, "--method", "mine_for_run:flat", "--slice", "high")
    (tmp_path / "mine_for_run.py").write_text(MINE.replace("level=7", "level=88"))
    monkeypatch.delitem(sys.modules, "mine_for_run")
    call(made, "--method", "mine_for_run:flat", "--slice", "high")
    assert levels("mine_for_run.flat") == {"item 2": 88}


def test_unknown_slices_and_datasets_are_one_sentence(made: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown slice 'hihg', did you mean 'high'\?"):
        call(made, "--method", "telea", "--slice", "hihg")
    with pytest.raises(InputError, match=r"'no where' is neither a folder nor a dataset of the Hub; give a path, or OWNER/NAME"):
        call(Path("no where"), "--method", "telea")


def test_layouts_are_listed_and_one_is_told_whole() -> None:
    def printed(*words: str) -> str:
        return CliRunner().invoke(app, ["layouts", *words], catch_exceptions=False, env={"COLUMNS": "300"}).output

    assert "432x240" in printed()
    told = printed("e2fgvi-hq")
    for words in ("CC BY-NC 4.0", "709cbe3", "MPLBACKEND 'Agg'", "results/frames_results.mp4", "mp4v", "E2FGVI-HQ-CVPR22.pth"):
        assert words in told
    assert "Next: inpaintbench eval run DATASET --method e2fgvi-hq,weights=WEIGHTS --program FOLDER --run RUN" in told
    # What a program does with holes and known pixels is told where it is the default too.
    for words in ("composites │ hole", "dilates    │ none", "hole_level │ white", "lossy      │ no: its results are lossless"):
        assert words in printed("lama")
    assert "unchecked" in printed("devil-vinet")
    assert "composites" not in printed("devil-vinet")
    with pytest.raises(UnknownNameError, match="did you mean 'propainter'"):
        printed("propaintr")


def test_a_preset_is_a_method_and_is_checked(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = cloned("propainter", tmp_path / "clone")
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (tmp_path / "python").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    done = call(made, "--method", "propainter", "--program", str(clone), "--slice", "high")
    assert "propainter: 1 predictions, 0 failed" in done.output
    assert "inference_propainter.py" in Path("RUN/logs/methods/propainter/item 2.txt").read_text()
    checked = CliRunner().invoke(app, ["check", f"propainter,python={sys.executable}", "--program", str(clone)])
    assert "tried on a made clip, 12 frames of 214x122: known pixels as they were\nno mistake shows\n" in checked.output
    assert f" {sys.executable} {clone}" in Path("propainter.log").read_text()
    script = clone / "inference_propainter.py"
    script.write_text(script.read_text() + "\nsave(out + '/frames', '{:04d}.png', done[::-1])")
    checked = CliRunner().invoke(app, ["check", "propainter", "--program", str(clone)])
    assert str(checked.exception).startswith("`eval run` would not run propainter, for it gives frames in reverse order: ")
    with pytest.raises(InputError, match="'propainter' needs the folder of its program: give --program FOLDER"):
        call(made, "--method", "propainter")


@pytest.mark.parametrize("words", [
    ["check", "e2fgvi-hq,weights=WEIGHTS,python=PYTHON", "--program", "CLONE"],
    ["check", "e2fgvi-hq,weights=weights.pth,python=PYTHON,folder=CLONE"],
    ["check", "--method", "e2fgvi-hq,weights=WEIGHTS,python=PYTHON", "--program", "CLONE"],
    ["layouts", "check", "mine=e2fgvi-hq,weights=WEIGHTS,seed=3,python=PYTHON", "--program=CLONE"],
    ["layouts", "check", "mine=e2fgvi-hq,weights=WEIGHTS,python=PYTHON,folder=CLONE"],
])  # fmt: skip
def test_a_preset_is_checked_as_it_is_run(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clone = cloned("e2fgvi-hq", tmp_path / "clone")
    places = {"CLONE": str(clone), "WEIGHTS": str(clone / "weights.pth"), "PYTHON": sys.executable}
    for place, path in places.items():
        words = [word.replace(place, path) for word in words]
    done = CliRunner().invoke(evaluate, words, catch_exceptions=False)
    assert "no mistake shows\n" in done.output
    assert ("is `inpaintbench eval check` now" in done.output) == (words[0] == "layouts")
    assert f" -c {clone}/weights.pth " in next(tmp_path.glob("*.log")).read_text()


HANGS = """
import time

def hangs(frames, hole):
    print("waiting")
    time.sleep(600)

def differs(frames, hole):
    raise ValueError(f"level {frames[hole].mean() + frames.sum():.1f} of item is off")
"""


@pytest.mark.parametrize("limits", [(), ("--max-failures", 0)])
def test_a_method_that_hangs_ends_alone_and_the_status_says_so(made: Path, tmp_path: Path, limits: tuple[object, ...]) -> None:
    (tmp_path / "hanging_for_run.py").write_text(HANGS)
    methods = ("--method", "hanging_for_run:hangs", "--method", "mine_for_run:flat")
    done = CliRunner().invoke(
        app,
        list(map(str, ["run", made, "--run", "RUN", "--workers", 1, *methods, "--time-limit", 6, *limits, "--report"])),
        env={"COLUMNS": "400"},
    )
    assert isinstance(done.exception, RunError)
    assert "hanging_for_run.hangs" in str(done.exception)
    assert "mine_for_run.flat: 3 predictions, 0 failed" in done.output
    assert levels("mine_for_run.flat") == {"item 0": 7, "item 1": 7, "item 2": 7}
    assert "mine_for_run.flat" in Path("RUN/report/report.html").read_text()
    assert "waiting" in next(Path("RUN/logs/methods/hanging_for_run.hangs").iterdir()).read_text()
    # Both clips of the check had one cause: one sentence, with one clip and its log.
    log = Path("RUN/logs/methods/hanging_for_run.hangs") / f"{MADE}.txt"
    assert str(done.exception).count("took longer than") == 1
    assert f"took longer than 12 s and was stopped on 2 clips, such as the clip {MADE!r} (log: {log})" in str(done.exception)


def test_one_cause_with_other_values_is_one_line(made: Path, tmp_path: Path) -> None:
    (tmp_path / "hanging_for_run.py").write_text(HANGS)
    done = call_any(made, "--method", "hanging_for_run:differs", "--method", "telea", "--despite-check")
    tried, ran = [line for line in done.output.splitlines() if "is off" in line]
    assert ran.startswith("  3 items, such as item 0: ValueError: level ")
    clips = f"hanging_for_run.differs could not be tried on 2 clips, such as the clip {MADE!r}: ValueError: level "
    log = Path("RUN/logs/methods/hanging_for_run.differs") / f"{MADE}.txt"
    assert clips in tried
    assert tried.endswith(f"is off (log: {log})")
    checked = CliRunner().invoke(app, ["check", "hanging_for_run:differs", str(made)], env={"COLUMNS": "400"})
    [line] = [line for line in checked.output.splitlines() if "is off" in line]
    assert clips in line
    assert "what it said is in hanging_for_run.differs.log" in checked.output
    assert str(checked.exception) == "hanging_for_run.differs gave no result"
    assert str(done.exception) == "hanging_for_run.differs made no prediction"


TRIED = """
import itertools
import numpy as np

CALLS = itertools.count()

def noise(frames, hole):
    frames[hole] = np.random.default_rng(next(CALLS)).integers(0, 256, (int(hole.sum()), 3))
    return frames

def blue(frames, hole):
    frames[hole] = (200, 90, 30)
    return frames[..., ::-1]

def floats(frames, hole, value=0.5):
    made = frames.astype("float32") / 255
    made[hole] = value
    return made
"""


def test_what_is_refused_is_not_run_and_the_others_are_reported(made: Path, tmp_path: Path) -> None:
    (tmp_path / "tried_for_run.py").write_text(TRIED)
    methods = [word for name in ("noise", "blue") for word in ("--method", f"tried_for_run:{name}")]
    done = call_any(made, *methods, "--report")
    assert str(done.exception).startswith("tried_for_run.blue is not run, for it gives frames with red and blue exchanged: known")
    assert str(done.exception).endswith("--despite-check runs it all the same")
    assert "tried_for_run.noise gives other pixels the second time" in done.output
    assert Workspace("RUN").steps("predictions") == ["predict.tried_for_run.noise"]
    assert {row.item_id for row in Workspace("RUN").table("checks", Checked)} == {MADE, "item 0"}
    page = Path("RUN/report/report.html").read_text()
    assert "Tried before the run, it gives other pixels the second time" in page
    # Who means it says so, and what was found stands beside the scores.
    done = call(made, "--method", "tried_for_run:blue", "--despite-check", "--report")
    assert done.exit_code == 0
    page = Path("RUN/report/report.html").read_text()
    assert "Tried before the run, it gives frames with red and blue exchanged" in page
    assert "It gives known pixels " in page
    # What was damaged is made again, with the sentences.
    [table, *_] = Path("RUN/tables/checks").glob("*.parquet")
    before = table.read_bytes()
    table.write_bytes(before[: len(before) // 2])
    workspace = Workspace("RUN")
    with LocalExecutor(workspace, workers=0) as executor:
        assert repair(executor, proof(workspace).damaged) == []
    assert table.read_bytes() == before
    assert any("red and blue" in sentence for sentence in tasks_in(workspace)["tried_for_run.blue"])


def test_floats_run_where_their_range_is_said(made: Path, tmp_path: Path) -> None:
    (tmp_path / "tried_for_run.py").write_text(TRIED)
    done = call_any(made, "--method", "tried_for_run:floats", "--slice", "high")
    assert "state value_range=0..1 if that is their range" in str(done.exception)
    call(made, "--method", "ours=tried_for_run:floats,value_range=0..1,value=0.2", "--slice", "high")
    assert levels("ours") == {"item 2": 51}


@pytest.mark.parametrize(
    ("kind", "method", "told"),
    [
        ("hidden", "gives", "gives the hole as it was: nothing is filled (on item item 0, 2 frames of 64x48)"),
        ("print", "gives", "gives the input back unchanged (on item item 0, 2 frames of 64x48)"),
        ("print", "mirrors", "gives frames mirrored left to right: edges correlate by "),
        ("print", "smooths", None),
        ("edit", "mirrors", "gives frames mirrored left to right: edges correlate by "),
        ("edit", "smooths", None),
    ],
)
def test_where_no_hole_is_told_a_method_is_warned_of_and_runs(kind: str, method: str, told: str | None, tmp_path: Path) -> None:
    (tmp_path / "untold_for_run.py").write_text(
        "import cv2, numpy as np\n"
        "def gives(frames, hole):\n    return frames\n"
        "def smooths(frames, hole):\n    return np.stack([cv2.GaussianBlur(frame, (0, 0), 1) for frame in frames])\n"
        "def mirrors(frames, hole):\n    return smooths(frames, hole)[:, :, ::-1]\n"
    )
    folder = tmp_path / "untold"
    changed = {
        "hidden": {"hole_is_given": False},
        "print": {"hole_is_given": False, "hole_file_name": None},
        "edit": {"hole_is_given": False, "hole_file_name": None, "source_prompt": None, "target_prompt": "a sea", "task": "SE"},
    }[kind]
    filmed(folder, input_is_stored=kind != "hidden", **changed)
    done = call(folder, "--method", f"untold_for_run:{method}")
    assert f"untold_for_run.{method}: 2 predictions, 0 failed" in done.output
    said = [line for line in done.output.splitlines() if line.startswith(f"untold_for_run.{method} gives")]
    warned = [line for line in said if "known pixels" not in line]
    assert len(warned) == (told is not None), warned
    assert all(str(told) in line for line in warned)


def filmed(folder: Path, *, input_is_stored: bool = False, **changed: object) -> None:
    """A frozen dataset of two items under a camera that moves."""
    dataset, rows = write_items(folder, count=2, frames=(2, 2)), []
    for row in dataset.items:
        truth = folder / row["truth_file_name"]
        video.write_lossless(truth, pan_clip("coffee", pixels_per_frame=1, frames=2, width=64, height=48), fps=25.0)
        yuv, rgb = video.decoded_hashes(truth)
        stored = {"input_file_name": row["truth_file_name"], "input_sha256": rgb} if input_is_stored else {}
        rows.append({**row, **changed, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb, **stored})
    write_one_file(folder, replace(dataset, items=tuple(rows)))


def test_a_result_whose_known_pixels_cannot_be_compared_is_named_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "half_for_check.py").write_text("def half(frames, hole):\n    return frames[:, ::2]\n")
    checked = CliRunner().invoke(app, ["check", "half_for_check:half"], env={"COLUMNS": "300"})
    assert "tried on a made clip, 12 frames of 214x122\n" in checked.output
    assert str(checked.exception).startswith("`eval run` would not run half_for_check.half, for it ")


def test_a_folder_of_results_is_looked_at_beside_a_dataset(tmp_path: Path) -> None:
    filmed(tmp_path / "data")
    truth = video.read_frames(tmp_path / "data" / "truth 0.mp4")
    for name, frames in (("fine", truth), ("blue", truth[..., ::-1])):
        (tmp_path / name).mkdir()
        video.write_lossless(tmp_path / name / "item 0.mp4", np.ascontiguousarray(frames), fps=25.0)

    def checked(*words: str) -> Result:
        return CliRunner().invoke(app, ["check", *words], env={"COLUMNS": "300"})

    assert "known pixels as they were\nno mistake shows" in checked("saved_folder,folder=fine", "data").output
    wrong = checked("results=saved_folder,folder=blue", "data")
    assert str(wrong.exception).startswith("`eval run` would not run results, for it gives frames with red and blue exchanged: ")
    assert "no mistake shows" not in wrong.output
    assert "a folder of results is looked at beside a dataset" in str(checked("saved_folder,folder=fine").exception)
