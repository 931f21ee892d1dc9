"""A run folder against its own hashes: what is damaged is named, dropped, and done again alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, VerifyError, WorkspaceError, reason_of
from inpaintbench.eval.scoring.check import check
from inpaintbench.eval.scoring.parts import open_part
from inpaintbench.eval.scoring.predict import MethodSpec, build, predict
from inpaintbench.eval.scoring.run_folder import SETTINGS, bind, kept_files, read_kept, settings_in
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.lazily import lazily
from inpaintbench.ledgers import Ledger
from inpaintbench.tables import PROVED, UNREADABLE, hash_file, prove
from inpaintbench.types import Plain, Prediction, Score, canonical_json
from inpaintbench.workspace import Workspace

pq = lazily("pyarrow.parquet")


class Damage(NamedTuple):
    """Something that is not what was written, or is not there."""

    path: Path
    what: str
    """One sentence."""
    drop: Callable[[], object]
    """Takes it away."""


@dataclass
class Proof:
    """Amounts that were looked at, and what is damaged."""

    blobs: int = 0
    lines: int = 0
    """Of ledgers."""
    tables: int = 0
    unrecorded: int = 0
    """Tables without a hash, which an earlier release wrote."""
    damaged: list[Damage] = field(default_factory=list)


def proof(workspace: Workspace) -> Proof:
    """Compare everything in a run folder that a number comes from with its hash: predictions and other blobs, ledgers, tables,
    and what stands beside tables: settings of steps, digests of what is scored, facts of methods.
    """
    found, run = Proof(), workspace.path
    of: dict[str, str] = {}  # blob -> whose prediction of which item it is, as sentences on it begin
    with suppress(*UNREADABLE, WorkspaceError):
        for row in workspace.table("predictions", Prediction):
            of[row.blob] = f"prediction of {row.method} for item {row.item_id}, "
    if workspace.address:  # what lies there is proved, and none of it is here but what was named
        shutil.rmtree(run / "blobs", ignore_errors=True)
        for name in _named(workspace):
            with suppress(VerifyError):  # a table that is damaged is told below
                workspace.blobs.path(name)
    for path in sorted((run / "blobs").glob("*/*")):
        found.blobs += 1
        for damage in _damage(path, lambda path: workspace.blobs.proved(path.name, of=of.get(path.name, ""))):
            found.damaged.append(damage._replace(drop=partial(_drop_blob, workspace, path)))
    for log in sorted((run / "ledger").glob("*.jsonl")):
        ledger = Ledger(log.parent, log.stem, own=log.stem)
        found.lines += log.read_bytes().count(b"\n")
        found.damaged += [Damage(log, sentence, ledger.drop_damaged) for sentence in ledger.damaged()]
    whole = True
    for path in [*sorted((run / "ledger").glob("*/*.parquet")), *sorted((run / "tables").glob("*/*.parquet"))]:
        found.tables += 1
        damaged = list(_damage(path, lambda path: prove(path) or pq.read_table(path)))
        found.unrecorded += path.parent.name in PROVED and not hash_file(path).exists()
        found.damaged += damaged
        whole &= not damaged
    for beside in sorted((run / "tables").glob("*/*.parquet.sha256")):
        if not (path := beside.with_suffix("")).exists():
            found.damaged.append(Damage(path, f"the table {str(path)!r} is missing", partial(_drop, path)))
    for path in kept_files(run):
        found.damaged += _damage(path, read_kept)
    for name, table in _named(workspace).items() if whole else ():
        if not (path := workspace.blobs.path(name)).exists():
            what = f"the blob {str(path)!r}, which the table {table!r} names, is missing"
            found.damaged.append(Damage(path, what, partial(_drop_blob, workspace, path)))
    return found


def _named(workspace: Workspace) -> dict[str, str]:
    """The blobs that tables name, each with the table; of damaged tables none."""
    named: dict[str, str] = {}
    for table, record, columns in (("predictions", Prediction, ["blob"]), ("scores", Score, ["features", "truth_features"])):
        with suppress(*UNREADABLE, WorkspaceError):
            rows = workspace.columns(table, record, columns=columns)
            named |= dict.fromkeys((name for one in columns for name in rows[one].unique().to_pylist() if name), table)
    return named


def _drop_blob(workspace: Workspace, path: Path) -> None:
    path.unlink(missing_ok=True)
    workspace.doubt(path.name)


def damaged_media(root: Path) -> list[str]:
    """A sentence for each media file of a dataset that is not what its manifest says.

    Raises:
        InputError: the dataset is not there. VerifyError: its tables are damaged.
    """
    found: dict[str, None] = {}
    for row in frozen.load(_there(root)).items:
        for column, value in row.items():
            part, named, _ = column.partition("_file_name")
            for name in ([value] if isinstance(value, str) else value or ()) if named else ():
                try:
                    frozen.proved_file(root, name, of=f"{part.replace('_', ' ')} of item {row['item_id']}, ")
                except VerifyError as error:
                    found[str(error)] = None
    return list(found)


def roots_of(workspace: Workspace) -> list[Path]:
    """Folders of the datasets that predictions and scores of a run folder are of, as far as its settings say."""
    return [
        Path(root)
        for root in sorted({told["root"] for table in ("predictions", "scores") for told in settings_in(workspace, table)})
    ]


def _damage(path: Path, read: Callable[[Path], object]) -> Iterator[Damage]:
    try:
        read(path)
    except VerifyError as error:
        yield Damage(path, str(error), partial(_drop, path))
    except UNREADABLE as error:
        yield Damage(path, f"{str(path)!r} is damaged: {reason_of(error)}", partial(_drop, path))


def _drop(path: Path) -> None:
    path.unlink(missing_ok=True)
    hash_file(path).unlink(missing_ok=True)


def repair(executor: LedgeredExecutor, damaged: Sequence[Damage], *, root: Path | None = None) -> list[Path]:
    """Drop what is damaged, and do that alone again, with the settings that the run folder keeps.

    What stands in the ledgers stays, so that the tables become what they were.

    Args:
        executor: on the run folder, which it holds.
        damaged: what ``proof`` found.
        root: folder of the dataset; by default where it lay when the run was made.

    Returns:
        The tables, and files beside them, that were dropped and that nothing made again: another command than `eval run` and
        `eval run --for scores` wrote them, or their settings are not kept.

    Raises:
        InputError: the dataset is not there, or is another one, or a method cannot be built here; nothing was dropped.
    """
    workspace = executor.workspace

    def bound(told: Plain) -> Path:
        place = _there(root or Path(told["root"]))
        bind(workspace, place)
        return place

    for told in settings_in(workspace, "predictions"):
        bound(told)
        try:
            build(MethodSpec(**told["method"]))
        except InputError as error:
            raise InputError(f"{error}; nothing was dropped: run this in the folder from which the method was run") from error
    for one in damaged:
        one.drop()
    for told in settings_in(workspace, "predictions"):
        place = bound(told)
        executor.only = told["only"] and set(told["only"])
        dataset, method = frozen.load(place), MethodSpec(**told["method"])
        predict(executor, dataset, root=place, method=method, remarks=told["remarks"], **told["how"])
        executor.only = None
    for told in settings_in(workspace, "checks"):
        place = bound(told)
        check(executor, MethodSpec(**told["method"]), dataset=frozen.load(place), root=place, **told["how"])
    for _, group in groupby(sorted(settings_in(workspace, "scores"), key=_alike), _alike):
        some = list(group)
        told, place = some[0], bound(some[0])
        score_all(
            executor, open_part(frozen.load(place)), place, [one["method"] for one in some], told["protocol"], told["metrics"],
            Compute(**told["compute"]), seconds=told["seconds"],
        )  # fmt: skip
    return [one.path for one in damaged if "tables" in one.path.parts and one.path.suffix != SETTINGS and not one.path.exists()]


def _alike(told: Plain) -> str:
    return canonical_json({name: value for name, value in told.items() if name != "method"})


def _there(root: Path) -> Path:
    if not (root / frozen.MANIFEST).is_file():
        raise InputError(f"the dataset is not in {str(root)!r} any more: say with --dataset where it lies")
    return root
