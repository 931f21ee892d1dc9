"""Make a submission of one method's scores in a run folder."""

from __future__ import annotations

import hashlib
import platform
import uuid
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.effort import efforts_of
from inpaintbench.eval.scoring.parts import check_truths
from inpaintbench.eval.scoring.run_folder import references_in
from inpaintbench.executors.base import Rejection
from inpaintbench.files import file_sha256, zip_entry
from inpaintbench.steps import predict_step
from inpaintbench.types import Prediction, Score, SliceScore
from inpaintbench.wings.leaderboard.checking import check
from inpaintbench.wings.leaderboard.contents import (
    CARD,
    FORMAT_VERSION,
    HEADER,
    PREDICTIONS,
    SCORES,
    SLICE_SCORES,
    Header,
    checked_name,
    header_bytes,
    read_card,
    rows_bytes,
)  # fmt: skip
from inpaintbench.wings.leaderboard.unpack import Submission
from inpaintbench.workspace import Workspace

_MEASURING = ("inpaintbench", "numpy", "opencv-python-headless", "opencv-python", "scikit-image", "torch", "av")


def pack(
    path: Path,
    *,
    workspace: Workspace,
    root: Path,
    protocol: str,
    method: str,
    card: bytes,
    scores: Sequence[Score],
    slice_scores: Sequence[SliceScore] = (),
    with_predictions: bool = False,
) -> Submission:
    """Write the submission ``path``, after the checks that a leaderboard makes. The same run gives the same bytes.

    Args:
        path: the ZIP file to write.
        workspace: the run folder.
        root: folder of the dataset.
        protocol: name of the protocol.
        method: the method's label.
        card: the method card, TOML.
        scores: of the method under the protocol.
        slice_scores: the same for slices.
        with_predictions: put in the files that were scored, so that a leaderboard can measure some again.

    Raises:
        InputError: a card or scores that no leaderboard would take, or a prediction that is no longer there.
        WorkspaceError: the file cannot be written.
    """
    checked_name(method, "method label")
    chosen: Protocol = PROTOCOLS.get(protocol)
    dataset, step = frozen.load(root), predict_step(method)
    check_truths(dataset)
    known = {row["item_id"] for row in dataset.items}
    own = sorted((row for row in scores if row.method == method), key=lambda row: (row.item_id, row.metric, row.region))
    sets = sorted((row for row in slice_scores if row.method == method), key=lambda row: (row.slice, row.metric, row.region))
    predictions = [row for row in workspace.table("predictions", Prediction, step=step) if row.item_id in known]
    refused = workspace.table("rejected", Rejection, step=step)
    texts = {CARD: card, SCORES: rows_bytes(own), SLICE_SCORES: rows_bytes(sets)}
    blobs = sorted({row.blob for row in predictions}) if with_predictions else []
    facts = {row.item_id: asdict(row) for row in predictions}
    for fact in facts.values():
        del fact["method"], fact["item_id"], fact["known_db"]  # the effort has its range
        if fact["ceiling_db"] is None:
            del fact["ceiling_db"]
    versions = {"python": platform.python_version()}
    for name in _MEASURING:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    header = Header(
        format_version=FORMAT_VERSION,
        method=method,
        dataset=dataset.name,
        manifest_sha256=file_sha256(root / frozen.MANIFEST),
        protocol=protocol,
        fingerprint=own[0].fingerprint if own else chosen.fingerprint,
        constants=chosen.model_dump(mode="json"),
        versions=versions,
        predictions=facts,
        failures={row.subject_id: row.reason for row in refused if row.subject_id in known},
        files={
            **{name: hashlib.sha256(data).hexdigest() for name, data in texts.items()},
            **{f"{PREDICTIONS}{name}": name.partition(".")[0] for name in blobs},
        },
        reference=method in references_in(workspace),
        effort=efforts_of(workspace, dataset, [method])[method].told,
        measured={row.item_id: dict(row.measured) for row in own if row.measured},
    )
    texts = {HEADER: header_bytes(header), **texts}
    identity = hashlib.sha256(texts[HEADER]).hexdigest()
    made = Submission(path, identity, header, read_card(card), tuple(own), tuple(sets), tuple(blobs))
    check(made, dataset, manifest_sha256=header.manifest_sha256, protocol=chosen, fingerprint=header.fingerprint)
    _write(path, texts, {f"{PREDICTIONS}{name}": workspace.blobs.path(name) for name in blobs})
    return made


def _write(path: Path, texts: dict[str, bytes], blobs: dict[str, Path]) -> None:
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(temporary, "w") as archive:
            for name, data in texts.items():
                archive.writestr(zip_entry(name), data, compresslevel=9)
            for name, blob in blobs.items():
                if not blob.is_file() or file_sha256(blob) != blob.name.partition(".")[0]:
                    raise InputError(f"the prediction {blob.name!r} is gone or damaged; run `inpaintbench eval run` again")
                with blob.open("rb") as file, archive.open(zip_entry(name, compressed=False), "w", force_zip64=True) as inside:
                    while part := file.read(1 << 20):
                        inside.write(part)
        temporary.replace(path)
    except OSError as error:
        raise WorkspaceError(f"submission {str(path)!r} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
