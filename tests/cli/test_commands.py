"""Every command: its example is real, its group knows what it says, and shells complete it."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from old_format import write_fields
from program import run_here

from inpaintbench import frozen
from inpaintbench.catalogue import joined
from inpaintbench.cli import app
from inpaintbench.cli.evaluate import app as evaluate

ROOT = typer.main.get_command(app)
PROGRAM = Path(sys.executable).with_name("inpaintbench")


def leaves(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    for name in command.with_parts():
        yield from leaves(command.get_command(None, name), (*path, name))


def groups(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "list_commands"):
        yield path, command
        for name in command.list_commands(None):
            yield from groups(command.get_command(None, name), (*path, name))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where DATASET is a frozen dataset, as far as the parser of arguments looks."""
    for name in ("DATASET", "RUN"):
        (tmp_path / name).mkdir()
    slices = [{"name": name, "rule": name, "item_ids": [item]} for name, item in (("size-low", "a"), ("size-high", "b"))]
    known = {"source_id": "s", "frames": 1, "width": 8, "height": 8, "fps": 1.0}
    items = [{"item_id": "a", "split": "test", **known}, {"item_id": "b", "split": "train", **known}]
    plain = {"name": "D", "recipe": {}, "left_out": {}, "files": {}, "versions": {}, "format_version": 3}
    write_fields(tmp_path / "DATASET", {**plain, "slices": slices, "items": items})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_every_command_ends_its_help_with_an_example_that_it_takes() -> None:
    seen = 0
    for path, command in leaves():
        prefix = f"Example: inpaintbench {' '.join(path)}"
        assert command.epilog, f"{path} has no example"
        assert command.epilog.startswith(prefix), command.epilog
        words = shlex.split(command.epilog.removeprefix(prefix))
        with command.make_context(path[-1], words) as context:  # raises where it names an option that there is not
            shown = command.get_help(context)
        assert shown.splitlines()[-1] == f"  {command.epilog}"
        assert "Example:" not in command.help
        seen += 1
    assert seen >= 60


@pytest.mark.usefixtures("place")
def test_an_example_with_a_misspelt_option_would_be_found() -> None:
    command = dict(leaves())["eval", "run --for scores"]
    for words in ("DATASET --run RUN --metrc psnr", "DATASET", "DATASET --run RUN --workers many", "DATASET RUN --run RUN"):
        with pytest.raises(Exception, match=r"No such option|Missing|valid integer|unexpected"):
            command.make_context("score", shlex.split(words))


def test_the_programs_help_has_ten_verbs_in_four_panels_and_says_where_leaves_are_tried() -> None:
    verbs = [name for names in ROOT.panels.values() for name in names]
    assert sorted([*verbs, "doctor", "leaf"]) == sorted(ROOT.list_commands(None))
    assert len(verbs) == 9 + len(joined("command"))
    assert len(ROOT.panels) == 4
    assert len(verbs) <= 10
    with ROOT.make_context("inpaintbench", ["--version"], resilient_parsing=True, terminal_width=80) as context:
        shown = ROOT.get_help(context)
    assert max(map(len, shown.splitlines())) <= 80
    places = [shown.index(f"\n{title}:\n") for title in ROOT.panels]
    assert places == sorted(places)
    epilog = " ".join(shown.split())
    assert "inpaintbench leaf --help" in epilog
    assert "inpaintbench doctor" in epilog


def test_no_summary_of_a_command_is_cut_short_at_80_columns() -> None:
    def groups(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if hasattr(command, "list_commands"):
            yield path
            for name in command.list_commands(None):
                yield from groups(command.get_command(None, name), (*path, name))

    for path in groups(ROOT, ()):
        shown = run_here(*path, "--help").stdout
        assert "..." not in shown.partition("--help ")[2], shown


@pytest.mark.parametrize(
    ("words", "positional"),
    [
        ("run --dataset D --run R --method telea", ["D"]),
        ("compare telea --dataset=D mine --run R", ["D", "telea", "mine"]),
    ],
)
def test_the_dataset_may_still_be_an_option_and_is_told_to_be_an_argument(
    words: str, positional: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_first_argument(words, positional, place, capsys)


def check_first_argument(words: str, positional: list[str], place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "D").mkdir()
    (place / "D" / frozen.MANIFEST).touch()
    name, *rest = words.split()
    command = dict(leaves())["eval", name]
    with command.make_context(name, rest) as context:
        arguments = [str(context.params[one.name]) for one in command.params if one.param_type_name == "argument"]
    assert [one for one in arguments if one != "None"] == positional
    assert capsys.readouterr().err.count("the dataset is the first argument now: ") == 1


FORMER = [("eval", name) for name, now in typer.main.get_command(evaluate).former.items() if now]


@pytest.mark.parametrize("words", FORMER, ids=" ".join)
@pytest.mark.usefixtures("place")
def test_a_former_name_does_the_same_as_before_and_tells_the_name_now(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check_former(words, capsys)


def check_former(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    command = ROOT.get_command(None, words[0])  # type: ignore[attr-defined]
    for word in words[1:]:
        assert word not in command.list_commands(None)
        command = command.get_command(None, word)
    now = dict(leaves())[tuple(command.now.split(" ", 1))]
    assert inspect.unwrap(command.callback) is inspect.unwrap(now.callback)
    assert (command.hidden, now.hidden) == (True, False)
    example = shlex.split(now.epilog.removeprefix(f"Example: inpaintbench {command.now}"))
    with command.make_context(words[-1], example):
        assert capsys.readouterr().err == f"note: `{words[-1]}` is `inpaintbench {command.now}` now\n"


def test_eval_has_fifteen_commands_and_a_part_that_there_is_not_is_told_with_the_nearest() -> None:
    assert len(typer.main.get_command(evaluate).list_commands(None)) <= 15  # type: ignore[arg-type]
    refused = run_here("eval", "run", "DATASET", "--for", "score")
    assert (refused.returncode, refused.stderr) == (2, "inpaintbench: unknown part of run 'score', did you mean 'scores'?\n")


def test_an_option_of_one_value_that_is_given_again_is_refused_where_the_first_would_be_dropped() -> None:
    given = ("DATASET", "--run", "RUN", "--out", "means.svg", "--metric", "psnr", "--metric", "ssim")
    refused = run_here("eval", "figure", *given)
    assert (refused.returncode, refused.stderr) == (2, "inpaintbench: --metric is given 2 times, and takes one value\n")
    assert "--out is given 2 times" in run_here("demo", "--out", "a", "--out=b").stderr
    several = run_here(
        "eval", "run", "DATASET", "--run", "RUN", "--method", "telea", "--method", "blank", "--report", "--no-report"
    )
    assert "times" not in several.stderr


def test_every_parameter_of_every_command_says_what_it_is() -> None:
    assert not [(path, one.name) for path, command in leaves() for one in command.params if one.name != "help" and not one.help]


def test_the_help_of_the_program_says_of_each_command_what_it_says_itself() -> None:
    for name in ROOT.list_commands(None):  # type: ignore[attr-defined]
        assert ROOT.sentences[name] == ROOT.get_command(None, name).help.split("\n\n")[0]  # type: ignore[attr-defined]


def test_the_help_of_the_program_imports_no_room() -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from inpaintbench.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "rooms = ('inpaintbench.curation', 'inpaintbench.recipes', 'inpaintbench.eval')\n"
        "sys.exit(any(name.startswith(rooms) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


# Modules that draw, compute, open media or speak to others: each takes as long as all else that a command does before it answers.
HEAVY = {
    "altair", "av", "cv2", "datasets", "gradio", "huggingface_hub", "inpaintbench.eval.report.write", "jinja2",
    "numba", "pandas", "pebble", "pyarrow._compute", "pyarrow.parquet", "scipy", "skimage", "sqlalchemy", "tenacity", "torch",
    "vl_convert", "yaml",
}  # fmt: skip


def test_no_help_opens_media_draws_or_computes() -> None:
    commands = [*(path for path, _ in leaves()), *(path for path, _ in groups()), ("eval", "score"), ("eval", "score-folders")]
    script = (
        "import sys; from typer.testing import CliRunner; from inpaintbench.cli import app\nfirst = {}\n"
        f"for words in {commands!r}:\n"
        "    assert CliRunner().invoke(app, [*' '.join(words).split(), '--help']).exit_code == 0, words\n"
        f"    first = dict.fromkeys({HEAVY!r} & set(sys.modules), words) | first\n"
        "sys.exit(str(first) if first else None)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)


def completed(shell: str, line: str, *, cwd: Path) -> list[str]:
    """What the program answers a shell in which ``line`` is typed; the cursor is at its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("_INPAINTBENCH_COMPLETE", f"complete_{shell}")
        patch.setenv("COMP_WORDS", line)
        patch.setenv("COMP_CWORD", str(line.count(" ")))
        patch.setenv("_TYPER_COMPLETE_ARGS", line)
        patch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        done = run_here(cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


CASES: dict[str, tuple[str, set[str]]] = {
    "commands": ("inpaintbench e", {"export", "eval"}),
    "commands of a group": ("inpaintbench eval pa", {"paper"}),
    "parts of a command": ("inpaintbench eval run --for sc", {"scores"}),
    "options": ("inpaintbench eval run --for scores DATASET --r", {"--run", "--random-weights", "--retry-rejected"}),
    "metrics": ("inpaintbench eval run --for scores DATASET --metric ss", {"ssim"}),
    "protocols": ("inpaintbench eval report DATASET --protocol devil/i", {"devil/imperfect"}),
    "methods": ("inpaintbench eval run DATASET --method tel", {"telea"}),
    "slices": ("inpaintbench eval run DATASET --slice s", {"size-low", "size-high", "split-test", "split-train"}),
    "attributes": ("inpaintbench curation measure W --attribute camera_s", {"camera_speed"}),
    "generators": ("inpaintbench masks preview br", {"brush_box"}),
    "weights": ("inpaintbench models fetch raft-s", {"raft-small", "raft-small-official"}),
    "studies": ("inpaintbench annotate new devil", {"devil_labels"}),
}


@pytest.mark.parametrize("case", CASES)
def test_bash_completes(case: str, place: Path) -> None:
    line, wanted = CASES[case]
    assert set(completed("bash", line, cwd=place)) == wanted


def test_zsh_and_fish_complete_with_the_sentences_of_commands(place: Path) -> None:
    zsh, fish = ("\n".join(completed(shell, "inpaintbench exp", cwd=place)) for shell in ("zsh", "fish"))
    for text in (zsh, fish):
        assert "export" in text
        assert "Freeze items into a dataset" in text
    assert completed("fish", "inpaintbench eval run --for scores DATASET --metric ss", cwd=place)[0].split("\t")[0] == "ssim"


def test_labels_of_a_run_folder_complete(place: Path) -> None:
    for name in ("mine", "telea"):
        (place / "RUN" / "tables" / "predictions").mkdir(parents=True, exist_ok=True)
        (place / "RUN" / "tables" / "predictions" / f"predict.{name}.parquet").touch()
    assert completed("bash", "inpaintbench eval compare DATASET --run RUN m", cwd=place) == ["mine"]


def test_completing_asks_no_hub_and_imports_nothing_large(place: Path) -> None:
    script = (
        "import sys, atexit\n"
        "large = {'torch', 'gradio', 'datasets', 'huggingface_hub'}\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(large.intersection(sys.modules))))\n"
        "from inpaintbench.__main__ import main; main()"
    )
    words = "inpaintbench eval run --for scores nobody/nothing --metric ps"
    asked = {"_INPAINTBENCH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "7"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | asked, capture_output=True, text=True, check=False, cwd=place, timeout=60
    )
    assert (done.stdout, done.stderr) == ("psnr\n", "")


@pytest.mark.skipif(shutil.which("bash") is None or not PROGRAM.exists(), reason="needs bash and the installed program")
def test_a_real_bash_completes_with_the_script_that_the_program_prints(place: Path) -> None:
    asked = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    script = (
        "source <(inpaintbench --show-completion bash)\n"
        "COMP_WORDS=(inpaintbench eval run --for scores DATASET --metric ps); COMP_CWORD=7\n"
        '_inpaintbench_completion inpaintbench; echo "${COMPREPLY[@]}"; complete -p inpaintbench\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=asked, capture_output=True, text=True, check=False, cwd=place, timeout=60
    )
    assert done.stdout.splitlines()[0] == "psnr", done.stdout + done.stderr
    assert "-F _inpaintbench_completion inpaintbench" in done.stdout
