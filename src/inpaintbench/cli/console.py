"""Shared by all commands: progress, tables, answers as JSON, and one clear sentence for every error."""

from __future__ import annotations

import json
import math
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, NoReturn

from annotated_types import Ge, Le
from rich.console import Console
from rich.text import Text

from inpaintbench import mirrors
from inpaintbench.catalogue import Catalogue, Leaf
from inpaintbench.cli import logs
from inpaintbench.cli.options import OR_ADDRESS, Natural, argument, bundle, option, parameter, parse_workspace
from inpaintbench.cli.words import check_constants, pair
from inpaintbench.errors import UsageError, VerifyError, WorkspaceError
from inpaintbench.executors import STOP_ASKED, default_workers
from inpaintbench.files import without_controls
from inpaintbench.lazily import lazily

if TYPE_CHECKING:  # a command imports what works when it works, so that help comes at once
    from inpaintbench.executors.ledgered import LedgeredExecutor
    from inpaintbench.workspace import Shard, Workspace

bar, tables = lazily("rich.progress"), lazily("rich.table")


class _Console(Console):
    """Shows words of strangers as they are spelt: none of their characters moves the cursor or turns the order of letters; and
    addresses in the place of their mirrors."""

    def render_str(self, text: str, **how: Any) -> Text:  # every text of lines and tables comes by here
        return super().render_str(without_controls(mirrors.shown(text)), **how)


# No folding in files and pipes, and no pictures for what looks like an emoji's name in a path.
out = _Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
err = _Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)

WORKERS = default_workers()
# The title of options that say how a command runs, not what it makes.
RUNNING = "Running"


SECONDS_BETWEEN_LINES = 10.0
# Damaged files that are told one by one; the others are counted.
_DAMAGED_TOLD = 10


class StepProgress:
    """One bar a step on a terminal; elsewhere one line a step, and one now and then while it takes long."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}
        self._live = err.is_terminal
        self._told: dict[str, float] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        """``done`` of ``total`` tasks of ``step`` are finished."""
        now = time.monotonic()
        first = step not in self._told
        begun, before = self._begun.setdefault(step, (now, done))
        due = done == total or now - self._told.setdefault(step, now) >= SECONDS_BETWEEN_LINES
        if due or first:
            self._told[step] = now
            logs.note("info", "step", step=step, done=done, total=total)
        if not self._live:
            if due:
                err.print(f"{step}: {done}/{total}{_timed(now - begun, done - before, total - done)}", markup=False)
            return
        if step not in self._tasks:
            self._tasks[step] = self._bars.add_task(step, total=total)
        self._bars.update(self._tasks[step], completed=done, total=total)


def _timed(seconds: float, done: int, left: int) -> str:
    """Time that a step has taken for what is ``done`` in this run, and about what is left of it; "" for an instant."""
    from inpaintbench.pages.words import duration

    if seconds < 1:
        return ""
    return f", {duration(seconds)}" + (f", about {duration(seconds * left / done)} left" if done and left else "")


@contextmanager
def progress() -> Iterator[StepProgress]:
    """Bars on standard error while the block runs."""
    counted = (bar.BarColumn(), bar.MofNCompleteColumn(), bar.TimeElapsedColumn(), bar.TimeRemainingColumn())
    columns = (bar.TextColumn("{task.description:<28}"), *counted)
    with bar.Progress(*columns, console=err, disable=not err.is_terminal) as bars:
        yield StepProgress(bars)


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Say on standard error what is being done while the block runs, where nothing can be counted."""
    if err.is_terminal:
        columns = (bar.TextColumn("{task.description}"), bar.SpinnerColumn(), bar.TimeElapsedColumn())
        with bar.Progress(*columns, console=err, transient=True) as bars:
            bars.add_task(doing, total=None)
            yield
    else:
        err.print(f"{doing} ...", markup=False)
        yield


@dataclass(frozen=True)
class Running:
    """Options of how a command runs.

    Running:
        workers: Worker processes; 0 = in this process, for debugging. [default: one a core]
        max_failures: Stop after this many crashes, time-outs and unexpected errors. [default: never]
        retry_rejected: Try again what an earlier run refused.
        ray (ADDRESS): Work on a Ray cluster: its address, `auto`, or `local` to start one here.
        memory (GIB): Most memory of one worker. [default: an equal share of the machine's]
    """

    workers: Natural = WORKERS
    max_failures: Natural | None = None
    retry_rejected: bool = False
    ray: str | None = None
    memory: Annotated[float | None, Ge(0.5), Le(1 << 20)] = None
    """GiB a worker."""

    @contextmanager
    def on(self, workspace: Workspace) -> Iterator[LedgeredExecutor]:
        """An executor on ``workspace``, with progress on the console and a log in the folder."""
        logs.beside(workspace.path)
        from inpaintbench.executors.base import is_note

        with progress() as shown, self._executor(workspace, shown) as executor:
            before = _rejected(workspace)
            try:
                yield executor
            finally:
                for step, subject, name, reason in sorted(_rejected(workspace) - before):
                    what = "noted" if is_note(step) else "rejected"
                    logs.note("warning", what, step=step, name=name or subject, reason=reason)
            check_undamaged(executor)

    def _executor(self, workspace: Workspace, shown: StepProgress) -> LedgeredExecutor:
        memory_bytes = int(self.memory * 2**30) if self.memory else None
        options: dict[str, Any] = {
            "workers": self.workers, "memory_bytes": memory_bytes, "max_failures": self.max_failures,
            "retry_rejected": self.retry_rejected, "progress": shown,
        }  # fmt: skip
        if self.ray is None:
            from inpaintbench.executors.local import LocalExecutor

            return LocalExecutor(workspace, **options)
        from inpaintbench.executors.ray import RayExecutor

        return RayExecutor(workspace, address=self.ray, **options)


@dataclass(frozen=True)
class RunningEach(Running):
    """``Running``, of several methods.

    Running:
        max_failures: End a method after this many crashes, time-outs and unexpected errors; the others go on. [default:
            never]
    """

    max_failures: Natural | None = None


Processes = Annotated[Running, bundle(Running, "workers")]
Locally = Annotated[Running, bundle(Running, "workers", "max_failures", "retry_rejected")]
EachLocally = Annotated[Running, bundle(RunningEach, "workers", "max_failures", "retry_rejected")]
InShard = Annotated[
    str | None,
    option("Do the i-th of N parts, for batch schedulers; one run without puts them together.", "--shard", metavar="i/N",
           panel=RUNNING),
]  # fmt: skip

InWorkspace = Annotated[Path, argument("The workspace.", parser=parse_workspace)]
OutWorkspace = Annotated[Path, option("Workspace to make or go on with.", **OR_ADDRESS)]


@contextmanager
def writing(workspace: Workspace) -> Iterator[None]:
    """Hold ``workspace`` and keep the log there, for commands that write without an executor."""
    with workspace.locked():
        logs.beside(workspace.path)
        yield


def check_undamaged(executor: LedgeredExecutor) -> None:
    """Raise ``VerifyError`` where tasks failed because stored bytes are others than were stored; what else was done stays."""
    for sentence in executor.damaged[1:_DAMAGED_TOLD]:
        warn(sentence)
    if executor.damaged:
        others = f" (and {len(executor.damaged) - 1} more)" if len(executor.damaged) > 1 else ""
        raise VerifyError(f"{executor.damaged[0]}{others}")


def _rejected(workspace: Workspace) -> set[tuple[str, str, str, str]]:
    from inpaintbench.executors.base import Rejection

    try:
        rows = workspace.table("rejected", Rejection)
    except WorkspaceError:  # a damaged table is written anew
        return set()
    return {(row.step, row.subject_id, row.name, row.reason) for row in rows}


def parse_shard(text: str | None) -> Shard | None:
    """``3/16`` -> the third of sixteen parts."""
    if text is None:
        return None
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f"shard {text!r} is not i/N with 1 <= i <= N, such as 3/16")
    from inpaintbench.workspace import Shard

    return Shard(int(number), int(count))


def say(sentence: str) -> None:
    """A sentence on standard output, as it is."""
    out.print(sentence, markup=False)


class Table(NamedTuple):
    """A table for people; numbers to the right."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Sequence[object]]

    def tell(self) -> None:
        """Print it on standard output."""
        rows = list(self.rows)
        table = tables.Table(title=self.title, title_justify="left", title_style="bold")
        for place, column in enumerate(self.columns):
            numeric = bool(rows) and all(isinstance(row[place], int | float) for row in rows)
            table.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*("" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value) for value in row))
        out.print(table, markup=False)


class Next:
    """The command that usually follows; a path among its words as people would type it."""

    def __init__(self, *words: object) -> None:
        self.words = words

    def tell(self) -> None:
        """Print it on standard output."""
        typed = (shlex.quote(shown(word) if isinstance(word, Path) else str(word)) for word in self.words)
        say(f"Next: inpaintbench {' '.join(typed)}")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A ``Table`` at once."""
    Table(title, columns, rows).tell()


def tell_next(*words: object) -> None:
    """``Next`` at once."""
    Next(*words).tell()


def note(sentence: str) -> None:
    """One line on standard error about what goes on, for whoever waits."""
    err.print(sentence, markup=False)


def warn(sentence: str) -> None:
    """A sentence on standard error, and in the log."""
    logs.note("warning", "warning", text=sentence)
    err.print(sentence, markup=False)


def stop(sentence: str, *, status: int = 1) -> NoReturn:
    """End the program with one sentence on standard error."""
    logs.note("error", "error", text=sentence)
    err.print(f"inpaintbench: {sentence}", markup=False)
    sys.exit(status)


def default_interrupts() -> None:
    """Let Ctrl-C and SIGTERM end a run in the same way, so that workers are stopped with it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - signature of signal handlers
    # Python drops an exception that is raised in the middle of some callbacks; the executor looks at the flag as well.
    STOP_ASKED.set()
    raise KeyboardInterrupt


def shown(path: Path) -> str:
    """A path as people would type it: relative where that is shorter, the address where it lies in the mirror of one."""
    if (text := mirrors.shown(str(path))) != str(path):
        return text
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def parse_leaf(text: str, leaves: Catalogue[type[Leaf]]) -> dict[str, Any]:
    """``shots,margin=3`` -> ``{"name": "shots", "margin": 3}``; checked by building the leaf."""
    name, *given = re.split(r",(?![^\[]*\])", text)  # commas inside a list belong to it
    constants = dict(constant(part) for part in given)
    leaf = leaves.get(name)
    check_constants(leaf, constants, called=f"{leaves.kind} {name!r}")
    try:
        leaf(**constants)
    except TypeError as error:
        raise UsageError(f"{leaves.kind} {name!r} cannot be built with {constants}: {error}") from error
    return {"name": name, **constants}


def constant(text: str) -> tuple[str, Any]:
    """``preset=thick-256`` -> (name, value)."""
    name, given = pair(text, f"{text!r} is not NAME=VALUE, such as preset=thick-256")
    return name, value(given)


def value(text: str) -> Any:
    """A JSON value where it is one, the text itself where not."""
    try:
        return json.loads(text)
    except ValueError:
        return text


AsJson = Annotated[bool, option("Print JSON instead of tables, for scripts.", "--json")]


def print_json(answer: object) -> None:
    """The answer of a command on standard output, for scripts: numbers in full, null for what is missing or not finite."""
    text = json.dumps(_plain(answer), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(without_controls(mirrors.shown(text)) + "\n")


class Answer:
    """What a command has to say, which returns it: its facts for scripts, where ``--json`` asks for them, and for people what is
    ``shown``; then the ``fault``, if there is one, ends the command. The annotation alone gives a command that option; one that
    has to know of it, or has others behind it, names it in its signature.
    """

    parameters: ClassVar = (parameter("as_json", AsJson, False),)

    def __init__(self, facts: object, *shown: str | Table | Next, fault: Exception | None = None) -> None:
        self.facts, self.shown, self.fault = facts, shown, fault

    def tell(self, *, as_json: bool) -> None:
        """Print the one or the other."""
        if as_json:
            print_json(self.facts)
        for one in () if as_json else self.shown:
            if isinstance(one, str):
                say(one)
            else:
                one.tell()
        if self.fault is not None:
            raise self.fault


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def records(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Rows of a table for ``print_json``, by the names of their columns."""
    return [dict(zip(columns, row, strict=True)) for row in rows]
