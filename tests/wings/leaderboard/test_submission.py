"""Submissions of a real run: what they hold, and every kind that is refused."""

from __future__ import annotations

import json
import math
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from methods_run import PROTOCOL
from tests.wings.leaderboard.made import COUNT, Files, card, spoilt, submit

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.effort import Effort, efforts_of
from inpaintbench.files import file_sha256
from inpaintbench.types import Prediction, Score
from inpaintbench.wings.leaderboard.board import Board
from inpaintbench.wings.leaderboard.checking import read_submission, take_out
from inpaintbench.wings.leaderboard.contents import read_card, read_rows, rows_bytes, template
from inpaintbench.wings.leaderboard.pack import Sample, gather
from inpaintbench.wings.leaderboard.pages import method_pages, slice_pages
from inpaintbench.workspace import Workspace


def test_a_submission_holds_the_scores_and_hashes_of_its_run(world: Path, run: Workspace) -> None:
    found = read_submission(world / "submissions" / "telea.zip")
    scores = [replace(row, measured=None) for row in run.table("scores", Score) if row.method == "telea"]
    assert sorted(found.scores, key=repr) == sorted(scores, key=repr)
    predictions = run.table("predictions", Prediction, step="predict.telea")
    assert [found.header.prediction(row.item_id) for row in predictions] == predictions
    assert set(found.blobs) == {row.blob for row in predictions}
    assert found.header.manifest_sha256 == file_sha256(world / "data" / frozen.MANIFEST)
    assert found.header.fingerprint == PROTOCOLS.get(PROTOCOL).fingerprint
    assert found.card.links == {"code": "https://example.org/code?a=1&b=2"}
    assert not read_submission(world / "submissions" / "smooth.zip").blobs
    effort = Effort.of(found.header.effort)
    assert effort == efforts_of(run, frozen.load(world / "data"), ["telea"])["telea"]
    assert effort.items == COUNT


def test_the_same_run_gives_the_same_bytes(world: Path, run: Workspace, tmp_path: Path) -> None:
    again = submit(run, world / "data", "telea", tmp_path / "again.zip", predictions=True)
    assert (tmp_path / "again.zip").read_bytes() == (world / "submissions" / "telea.zip").read_bytes()
    assert again == replace(read_submission(tmp_path / "again.zip"), scores=again.scores)
    assert [path.name for path in tmp_path.iterdir()] == ["again.zip"]


def test_a_prediction_that_changed_on_disk_cannot_be_submitted(world: Path, tmp_path: Path) -> None:
    copy = Workspace(Path(shutil.copytree(world / "run", tmp_path / "run")), create=False)
    row = copy.table("predictions", Prediction, step="predict.ns")[0]
    copy.blobs.path(row.blob).write_bytes(b"another file")
    with pytest.raises(InputError, match=r"is gone or damaged; run `inpaintbench eval run` again"):
        submit(copy, world / "data", "ns", tmp_path / "out" / "ns.zip", predictions=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_infinite_values_come_back(world: Path) -> None:
    rows = [Score("m", "i", "psnr", "hole", "p", "f", value, None, {"parts": [math.inf]}) for value in (math.inf, 0.1 + 0.2)]
    [one, other] = read_rows(rows_bytes(rows), Score, "rows")
    assert (one.value, other.value) == (math.inf, 0.1 + 0.2)


def refusal(world: Path, tmp_path: Path, change: Callable[[Files], object], *, rehash: bool = True) -> str:
    """Why a changed copy of a good submission is left out, beside the good one."""
    folder = tmp_path / "folder"
    folder.mkdir()
    good = world / "submissions" / "telea.zip"
    (folder / "good.zip").write_bytes((world / "submissions" / "ns.zip").read_bytes())
    spoilt(good, folder / "spoilt.zip", change, rehash=rehash)
    board = gather(folder, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    assert [entry.label for entry in board.entries] == ["ns"]
    [refused] = board.refused
    assert refused.name == "spoilt.zip"
    return refused.reason


def in_header(**fields: Any) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files["submission.json"] = json.dumps(json.loads(files["submission.json"]) | fields).encode()

    return change


def in_rows(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Files], None]:
    def changed(files: Files) -> None:
        rows = [json.loads(line) for line in files["scores.jsonl"].splitlines()]
        change(rows)
        files["scores.jsonl"] = "\n".join(map(json.dumps, rows)).encode()

    return changed


def without_prediction(files: Files) -> None:
    header = json.loads(files["submission.json"])
    blob = header["predictions"].pop("item03")["blob"]
    del header["measured"]["item03"]["prediction"]
    files["submission.json"] = json.dumps(header).encode()
    del files[f"predictions/{blob}"]


def raw(pattern: bytes, new: bytes) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files["scores.jsonl"], count = re.subn(pattern, new, files["scores.jsonl"], count=1)
        assert count == 1

    return change


def without_one_file(files: Files) -> None:
    del files[min(name for name in files if name.startswith("predictions/"))]


VALUE = rb'"value":[0-9.]+'
CHANGES: dict[str, tuple[Callable[[Files], object], str]] = {
    "a path that climbs": (lambda files: files.update({"../evil.html": b"x"}), r"holds '\.\./evil\.html', which is no part"),
    "an absolute path": (lambda files: files.update({"/etc/evil": b"x"}), "holds '/etc/evil', which is no part"),
    "a path below predictions": (lambda files: files.update({"predictions/../x.png": b"x"}), "which is no part"),
    "a page": (lambda files: files.update({"index.html": b"<script>"}), "holds 'index.html', which is no part"),
    "a prediction of no item": (lambda files: files.update({f"predictions/{'0' * 64}.png": b"x"}), "which is of no item"),
    "predictions of some items alone": (without_one_file, f"it holds {COUNT - 1} of {COUNT} predictions; put in all"),
    "no header": (lambda files: files.pop("submission.json"), "not a submission of `inpaintbench eval submit`: submission.json"),
    "another format": (in_header(format_version=99), "has format '99', this program reads 1"),
    "an unknown field": (in_header(html="<b>"), "submission.json has an unknown field 'html'"),
    "another kind of field": (in_header(predictions=[]), r"'predictions' of submission.json is '\[\]'"),
    "another dataset": (in_header(manifest_sha256="0" * 64), "it is of another dataset: 'small <pictures>' with manifest '0000"),
    "another protocol": (in_header(protocol="devil/legacy"), r"scored with devil/legacy \(.*this leaderboard is of devil/corr"),
    "another fingerprint": (in_header(fingerprint="0123456789ab+bf16"), r"\(0123456789ab\+bf16\), and this leaderboard is of"),
    "made-up parameters": (in_header(fingerprint="0123456789ab+random-weights-1"), "made with made-up parameters"),
    "an effort of no kind": (in_header(effort={"watts": 3}), "'watts' of the effort in submission.json is unknown"),
    "less than no time": (in_header(effort={"seconds_a_frame": -1}), "'seconds_a_frame' of the effort .* is '-1', no number"),
    "a page for a time": (in_header(effort={"seconds_a_frame": "<b>"}), "'seconds_a_frame' of the effort .* is '<b>'"),
    "a machine that turns letters": (in_header(effort={"machine": "good\u202ebad"}), r"holds the hidden character U\+202E"),
    "a task of one word": (in_header(effort={"task": "lies"}), "'task' of the effort .* no list of 20 sentences at most"),
    "a label for a spreadsheet": (in_header(method="=HYPERLINK(1)"), "method label '=HYPERLINK.*is not a name"),
    "a label that turns letters": (in_header(method="good\u202ebad"), r"holds the hidden character U\+202E"),
    "a failure of a strange item": (in_header(failures={"nowhere": "x"}), "item 'nowhere', which is not in the dataset"),
    "NaN": (raw(VALUE, b'"value":NaN'), "NaN is not a number of JSON"),
    "an endless number": (raw(VALUE, b'"value":1e999'), "value in line 1 of scores.jsonl is 'inf'"),
    "a number that overflows": (in_rows(lambda rows: rows[0].update(value=1e300)), "value in line 1 of scores.jsonl is '1e.300'"),
    "a text for a number": (in_rows(lambda rows: rows[0].update(value="<b>")), "value in line 1 of scores.jsonl is '<b>'"),
    "minus infinity": (in_rows(lambda rows: rows[0].update(value="-inf")), "value in line 1 of scores.jsonl is '-inf'"),
    "true for a number": (in_rows(lambda rows: rows[0].update(value=True)), "'value' of line 1 of scores.jsonl is 'True'"),
    "a key twice": (raw(b"^{", b'{"method":"x",'), "line 1 of scores.jsonl is not JSON: a key comes twice"),
    "a strange item": (in_rows(lambda rows: rows[0].update(item_id="x")), "a score for item 'x', which is not in the dataset"),
    "a strange metric": (in_rows(lambda rows: rows[0].update(metric="beauty")), "has no 'beauty' in the region"),
    "a strange region": (in_rows(lambda rows: rows[0].update(region="sky")), "has no 'psnr' in the region 'sky'"),
    "another method's score": (in_rows(lambda rows: rows[0].update(method="x")), "a score is of 'x' under"),
    "a value twice": (in_rows(lambda rows: rows.append(rows[0])), "two scores of psnr .* for item 'item00'"),
    "no value and no reason": (in_rows(lambda rows: rows[0].update(value=None)), "of 'item00' has no value and no reason"),
    "a value with a reason": (in_rows(lambda rows: rows[0].update(reason="lost")), "comes with a reason why there is none"),
    "frames to outweigh others": (in_rows(lambda rows: rows[0]["details"].update(frames=10**9)), "'frames' in the details"),
    "more infinite than all": (
        in_rows(lambda rows: rows[0]["details"].update(frames=1, infinite_frames=1, pairs=0)), "0 of 0 pairs are infinite",
    ),
    "an item left out in silence": (
        in_rows(lambda rows: rows.__setitem__(slice(None), [row for row in rows if row["item_id"] != "item03"])),
        f"lacks scores of 1 of {COUNT} items, and says nothing of why: item03",
    ),
    "one number left out": (in_rows(lambda rows: rows.pop()), f"lacks scores of 1 of {COUNT} items"),
    "no scores": (in_rows(lambda rows: rows.clear()), "it holds no scores"),
    "scores without a prediction": (without_prediction, "of item 'item03' has no SHA-256 of a prediction"),
    "a card with a script": (
        lambda files: files.update({"card.toml": card(**{"https://example.org/code?a=1&b=2": "javascript:alert(1)"})}),
        "link 'javascript:alert.1.' of the method card is not a plain address",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_cannot_stand_is_left_out_with_its_reason(world: Path, tmp_path: Path, name: str) -> None:
    change, complaint = CHANGES[name]
    reason = refusal(world, tmp_path, change)
    assert re.search(complaint, reason), reason


def test_files_that_were_changed_after_submitting_are_told(world: Path, tmp_path: Path) -> None:
    reason = refusal(world, tmp_path, in_rows(lambda rows: rows[0].update(value=99.0)), rehash=False)
    assert reason == "scores.jsonl is not the file that submission.json names: its SHA-256 is another"


def written(path: Path, *names: str, **attributes: Any) -> Path:
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that comes twice
        for name in names:
            info = zipfile.ZipInfo(name)
            for key, value in attributes.items():
                setattr(info, key, value)
            archive.writestr(info, b"x")
    return path


def test_what_is_no_plain_zip_file_is_refused(world: Path, tmp_path: Path) -> None:
    whole = (world / "submissions" / "telea.zip").read_bytes()
    path = tmp_path / "a.zip"
    for data in (b"", b"PK", whole[:-200], whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(InputError, match="it cannot be read as a ZIP file"):
            read_submission(path)
    with pytest.raises(InputError, match=r"'card\.toml' in it is a link"):
        read_submission(written(path, "card.toml", external_attr=0o120777 << 16))
    with pytest.raises(InputError, match=r"it holds 'card\.toml' twice"):
        read_submission(written(path, "card.toml", "card.toml"))


def test_no_byte_that_is_flipped_goes_unseen(world: Path, tmp_path: Path) -> None:
    """Either a reason, or contents that are the same: some bytes of a ZIP file say nothing, such as clock times."""
    good = world / "submissions" / "smooth.zip"
    whole, path = good.read_bytes(), tmp_path / "flipped.zip"
    expected = replace(read_submission(good), path=path)
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert read_submission(path) == expected
        except InputError:
            refused += 1
    assert refused > 100


def test_a_damaged_prediction_is_told_when_it_is_taken_out(world: Path, tmp_path: Path) -> None:
    submission = read_submission(world / "submissions" / "telea.zip")
    blob = submission.blobs[0]
    take_out(submission, blob, tmp_path / "good")
    assert file_sha256(tmp_path / "good") == blob.partition(".")[0]
    path = spoilt(submission.path, tmp_path / "a.zip", lambda files: files.update({f"predictions/{blob}": b"x"}), rehash=False)
    with pytest.raises(InputError, match="is not the file that was scored"):
        take_out(read_submission(path), blob, tmp_path / "bad")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (template(), "the method card says nothing of title, summary, model, preprocessing, training_data, loss"),
        (b"title = ", "the method card is not TOML"),
        (b"\xff", "the method card is not TOML"),
        (card() + b"x" * 64_000, "64,000 are the most"),
        (b"titel = 'x'\n" + card(), "unknown field of the method card 'titel', did you mean 'title'"),
        (card(**{"A method": "=1+1"}), "title of the method card '=1.1' is not a name"),
        (card(**{"A method": "x" * 81}), "has 81 letters; 80 are the most"),
        (card(**{"An algorithm of 2004": "\\u0000"}), r"hidden character U\+0000"),
        (card(**{'"none"': "3"}), "'preprocessing' of the method card is '3', not a text"),
        (card(**{'"A. Submitter", "B. Submitter"': "1"}), "author on the method card is '1', not a text"),
        (card(code="blog"), "unknown link of the method card 'blog'"),
        (card(**{"https://example.org": "https://good.example@example.org"}), "is not a plain address of http or https"),
        (card(**{"https://example.org": "//example.org"}), "is not a plain address of http or https"),
        (card(**{"https://example.org/": "https://["}), "is not a plain address of http or https"),
        (card(**{"https://": "data:text/html,"}), "is not a plain address of http or https"),
        (card(**{"https://example.org/code?a=1&b=2": 'https://example.org/\\" onclick=\\"x'}), "is not a plain address"),
    ],
)  # fmt: skip
def test_cards_that_cannot_be_published(data: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_card(data)


def test_the_template_is_a_card_once_it_is_filled_in() -> None:
    filled = template().decode()
    for name in ("title", "summary", "model", "preprocessing", "training_data", "loss"):
        filled = filled.replace(f'{name} = ""', f'{name} = "words"')
    assert read_card(filled.encode()).texts["training_data"] == "words"


def test_a_folder_without_a_submission_that_can_stand_says_why(world: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no submission \(\*\.zip\) in"):
        gather(tmp_path, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL))
    (tmp_path / "a.zip").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"none of 1 submissions .* can stand; a\.zip: it cannot be read as a ZIP file"):
        gather(tmp_path, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL))


def test_a_submission_states_what_its_scores_were_measured_of(world: Path) -> None:
    made, files = read_submission(world / "submissions" / "telea.zip"), frozen.load(world / "data").files
    assert made.header.measured["item03"] == {
        "truth": files["item03.png"], "hole": files["item03.hole.png"],
        "prediction": made.header.predictions["item03"]["blob"].partition(".")[0],
    }  # fmt: skip
    assert len(made.header.measured) == COUNT


@pytest.mark.parametrize("part", ["truth", "hole", "prediction"])
def test_scores_of_other_pixels_are_refused_by_item(world: Path, tmp_path: Path, part: str) -> None:
    def swapped(files: Files) -> None:
        header = json.loads(files["submission.json"])
        measured = header["measured"]
        measured["item03"][part], measured["item04"][part] = measured["item04"][part], measured["item03"][part]
        files["submission.json"] = json.dumps(header).encode()

    spoilt(world / "submissions" / "telea.zip", tmp_path / "swapped.zip", swapped)
    with pytest.raises(InputError, match=f"item 'item03' was measured of another {part}"):
        gather(tmp_path, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)


def test_a_submission_of_an_earlier_release_says_nothing_and_is_read(world: Path, tmp_path: Path) -> None:
    def earlier(files: Files) -> None:
        header = json.loads(files["submission.json"])
        del header["measured"]
        files["submission.json"] = json.dumps(header).encode()

    spoilt(world / "submissions" / "telea.zip", tmp_path / "earlier.zip", earlier)
    board = gather(tmp_path, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    assert "not recorded" in next(iter(method_pages(board, title="x").values())).decode()


def test_what_the_host_did_not_measure_again_holds_no_place_unless_the_host_says_so(world: Path) -> None:
    def places(**given: Any) -> tuple[dict[str, int | None], Board]:
        board = gather(world / "submissions", root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), **given)
        return {row.entry.label: row.place for row in board.rows(board.slices[0], "hole")}, board

    nobody, board = places()
    assert set(nobody.values()) == {None}
    assert {row.reason for row in board.rows(board.slices[0], "hole")} == {"its pixels were not measured again here"}
    assert b"not measured again" in slice_pages(board, title="x", notes="")["index.html"]
    sampled, board = places(sample=Sample(2, 0, 0))
    assert sampled["smooth"] is None  # it brought nothing to measure
    assert sorted(filter(None, sampled.values())) == [1, 2]
    assert b"3</strong> submissions" not in slice_pages(board, title="x", notes="")["index.html"]
    trusted, _ = places(trusted=True)
    assert sorted(filter(None, trusted.values())) == [1, 2, 3]
