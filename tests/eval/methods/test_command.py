from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.eval.methods.command import Command
from inpaintbench.types import Frames

COPY = """
    import pathlib, shutil, sys
    source, target = map(pathlib.Path, sys.argv[-2:])
    for path in source.glob("frame_*.png"):
        if not path.stem.endswith("_mask"):
            shutil.copy(path, target / path.name.replace("_gt", "_pred"))
"""
LINGER = "(echo started; : > {held}; exec sleep 600) > {pipe}"
"""Shell that keeps a pipe open until it is killed."""

Script = Callable[[str], str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Writes a Python program and gives the command that runs it."""

    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text))
        return shlex.join([sys.executable, "-S", str(path)])

    return write


def run(command: str, *, time_limit_seconds: float = 60, layout: str = "plain", frames: int = 3) -> Frames:
    method = Command(command=command, time_limit_seconds=time_limit_seconds, layout=layout)
    hole = wandering_hole()[:frames]
    return inpaint(method, corrupted(world()[:frames], hole), hole)


class TestContract(MethodContract):
    name = "command"

    @pytest.fixture
    def method(self, script: Script) -> Command:
        return Command(command=script(COPY))

    test_no_mistake_shows_where_it_is_at_home = None  # type: ignore[assignment]  # it copies, and leaves the hole as it was


@pytest.mark.parametrize("layout", ["plain", "devil"])
def test_gives_what_the_program_wrote(script: Script, layout: str) -> None:
    expected = corrupted(world()[:3], wandering_hole()[:3])
    np.testing.assert_array_equal(run(script(COPY), layout=layout), expected)


@pytest.mark.parametrize(
    ("layout", "frame", "mask"),
    [("plain", "frame_{:04d}.png", "hole_{:04d}.png"), ("devil", "frame_{:04d}_gt.png", "frame_{:04d}_mask.png")],
)
def test_the_program_finds_the_corrupted_input_and_the_hole(
    script: Script, tmp_path: Path, layout: str, frame: str, mask: str
) -> None:
    keep = f"\nshutil.copytree(source, {str(tmp_path / 'seen')!r})"
    run(script(textwrap.dedent(COPY) + keep), layout=layout)
    assert len(list((tmp_path / "seen").iterdir())) == 6
    for index in range(3):
        with Image.open(tmp_path / "seen" / frame.format(index)) as image:
            assert image.mode == "RGB"
            np.testing.assert_array_equal(image, corrupted(world(), wandering_hole())[index])
        with Image.open(tmp_path / "seen" / mask.format(index)) as image:
            assert image.mode == {"plain": "L", "devil": "1"}[layout]
            levels = np.asarray(image).astype(np.int64)
            values = {"plain": (255, 0), "devil": (0, 1)}[layout]
            np.testing.assert_array_equal(levels, np.where(wandering_hole()[index], *values))


def test_folders_stand_where_the_command_names_them(script: Script) -> None:
    swapped = COPY.replace("source, target", "target, source")
    np.testing.assert_array_equal(run(script(swapped) + " {output} {input}"), run(script(COPY)))


def test_no_shell_reads_the_command(script: Script, tmp_path: Path) -> None:
    arguments = ["$HOME", "*", f"$(touch {tmp_path / 'touched'})", "a;b", "two words"]
    command = script(COPY + f"    assert sys.argv[1:-2] == {arguments!r}, sys.argv")
    run(f"{command} {shlex.join(arguments)}")
    assert not (tmp_path / "touched").exists()


def test_runs_in_a_folder_of_its_own_that_is_gone_afterwards(script: Script, tmp_path: Path) -> None:
    run(script(COPY + f"    import os; pathlib.Path({str(tmp_path / 'cwd')!r}).write_text(os.getcwd())"))
    folder = Path((tmp_path / "cwd").read_text())
    assert folder != Path.cwd()
    assert not folder.exists()


def test_programs_and_files_may_be_named_from_the_callers_folder(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(COPY)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "start.sh").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (tmp_path / "start.sh").chmod(stat.S_IRWXU)
    assert run("./start.sh program.py").shape == (3, 48, 64, 3)


def test_the_environment_passes_through(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_TEST_WORD", "known")
    made = run(script(COPY + "    import os; assert os.environ['INPAINTBENCH_TEST_WORD'] == 'known'"))
    assert made.shape == (3, 48, 64, 3)


def test_a_failing_program_gives_its_status_and_last_words(script: Script) -> None:
    lines = "import sys; [print(f'line {n}', file=sys.stderr) for n in range(9)]; sys.exit(3)"
    with pytest.raises(NotMeasurable, match=r"ended with exit status 3: line 4 \| line 5 \| line 6 \| line 7 \| line 8$"):
        run(script(lines))


def test_a_silent_failure_says_so(script: Script) -> None:
    with pytest.raises(NotMeasurable, match=r"ended with exit status 1 and wrote nothing$"):
        run(script("import sys; sys.exit(1)"))


def test_a_killed_program_names_the_signal(script: Script) -> None:
    with pytest.raises(NotMeasurable, match="was killed by signal 11"):
        run(script("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))


def test_a_program_that_kills_its_own_group_harms_nobody_else(script: Script) -> None:
    with pytest.raises(NotMeasurable, match="was killed by signal 9"):
        run(script("import os, signal; os.killpg(0, signal.SIGKILL)"))


def test_missing_frames_are_a_reason(script: Script) -> None:
    gap = COPY + "    (target / 'frame_0001.png').unlink()"
    with pytest.raises(NotMeasurable, match=r"the program wrote no frame_0001\.png, wanted 3 frames"):
        run(script(gap))


def test_frames_of_another_size_are_a_reason(script: Script, tmp_path: Path) -> None:
    Image.new("RGB", (32, 48)).save(tmp_path / "small.png")
    shrink = COPY + f"    shutil.copy({str(tmp_path / 'small.png')!r}, target / 'frame_0002.png')"
    with pytest.raises(NotMeasurable, match=r"the program's frame_0002\.png is 32x48, wanted 64x48"):
        run(script(shrink))


def test_unreadable_frames_are_a_reason(script: Script) -> None:
    with pytest.raises(NotMeasurable, match=r"the program's frame_0000\.png cannot be opened"):
        run(script(COPY + "    (target / 'frame_0000.png').write_text('no image')"))


class Lingering(NamedTuple):
    """A process that would go on for ten minutes."""

    held: Path
    pipe: Path
    descriptor: int

    @property
    def shell(self) -> str:
        return LINGER.format(held=shlex.quote(str(self.held)), pipe=shlex.quote(str(self.pipe))) + " &"

    def assert_started_and_dies(self) -> None:
        assert os.read(self.descriptor, 8) == b"started\n"
        wait_for(self.is_dead)

    def is_dead(self) -> bool:
        try:
            return os.read(self.descriptor, 1) == b""
        except BlockingIOError:
            return False


@pytest.fixture
def lingering(tmp_path: Path) -> Iterator[Lingering]:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    yield Lingering(tmp_path / "held", pipe, descriptor)
    os.close(descriptor)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "still not after 30 s"
        time.sleep(0.02)


def test_grandchildren_die_at_the_time_limit(lingering: Lingering) -> None:
    with pytest.raises(NotMeasurable, match=r"sh' took longer than 2 s and was stopped"):
        run(shlex.join(["sh", "-c", f"{lingering.shell} wait"]), time_limit_seconds=2)
    lingering.assert_started_and_dies()


def test_what_the_program_leaves_running_dies_with_it(lingering: Lingering) -> None:
    until_held = f"while ! [ -e {shlex.quote(str(lingering.held))} ]; do sleep 0.02; done"
    run(shlex.join(["sh", "-c", f'{lingering.shell} {until_held}; cp "$0"/frame_* "$1"']))
    lingering.assert_started_and_dies()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_the_program_and_its_folder_go_with_a_killed_caller(lingering: Lingering, tmp_path: Path, sent: signal.Signals) -> None:
    command = shlex.join(["sh", "-c", f"{lingering.shell} wait"])
    caller = f"""
        import numpy as np
        from inpaintbench.eval.methods.command import Command
        from inpaintbench.view import ItemView
        view = ItemView.of_arrays(input=np.zeros((1, 8, 8, 3), np.uint8), hole=np.ones((1, 8, 8), bool))
        Command(command={command!r}).inpaint(view)
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(caller)], env=environment) as process:
        wait_for(lingering.held.exists)
        assert len(list(temporary.iterdir())) == 1
        os.kill(process.pid, sent)
    lingering.assert_started_and_dies()
    wait_for(lambda: not any(temporary.iterdir()))


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "command '' names no program"),
        ("no-such-program --fast", "command 'no-such-program --fast' names no program"),
        ("sh 'unbalanced", "cannot be split into program and arguments: No closing quotation"),
        ("sh -c {input}", "names only one of {input} and {output}"),
    ],
)
def test_commands_that_cannot_run_are_errors_at_once(command: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Command(command=command)


def test_a_program_that_cannot_start_is_a_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x00\x01\x02\x03")
    broken.chmod(stat.S_IRWXU)
    with pytest.raises(NotMeasurable, match=r"broken' cannot be started: Exec format error"):
        run(str(broken))


def test_a_misspelt_layout_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown layout 'devill', did you mean 'devil'"):
        Command(command="sh", layout="devill")


def test_the_divisor_is_a_constant_of_the_command() -> None:
    assert Command(command="sh").divisor == 1
    assert Command(command="sh", divisor=json.loads("[432, 240]")).divisor == [432, 240]
