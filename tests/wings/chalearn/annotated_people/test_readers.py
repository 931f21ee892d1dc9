"""What holds for every reader."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pose_files import bbc_file, flic_file, lsp_file, mpii_file, mpii_person, struct_array
from scipy import io

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people import POSE_READERS
from inpaintbench.wings.chalearn.annotated_people.base import image_name, number

NAMES = {
    "ankle", "knee", "hip", "pelvis", "thorax", "upper_neck", "head_top", "wrist", "elbow", "shoulder", "eye", "nose", "ear",
    "head",
}  # fmt: skip
SIDED = {"ankle", "knee", "hip", "wrist", "elbow", "shoulder", "eye", "ear"}


def _coco(path: Path) -> Path:
    keypoints = [value for index in range(17) for value in (index, 2 * index, 2)]
    names = ["nose"] + [f"{side}_{name}" for name in sorted(SIDED) for side in ("left", "right")]
    path.write_text(
        json.dumps(
            {
                "images": [{"id": 1, "file_name": "a.jpg", "width": 60, "height": 60}],
                "categories": [{"id": 1, "keypoints": names}],
                "annotations": [{"image_id": 1, "category_id": 1, "keypoints": keypoints}],
            }
        )
    )
    return path


def _sticks(path: Path) -> Path:
    path.write_text("a.jpg 2 6\n" + "1 2 3 4.5\n" * 12)
    return path


def _mpii_json(path: Path) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps([{"image": "a.jpg", "joints": [[1, 2]] * 16, "joints_vis": [1] * 16, "scale": 1}]))
    return path


def _bbc(path: Path) -> Path:
    part = {f"{split}_{name}": value for split in ("test", "train")
            for name, value in (("frames", np.array([[1, 2]])), ("joints", np.ones((2, 7, 2))))}  # fmt: skip
    return bbc_file(path, [{"videoName": "1", **part}])


FILES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "bbc_pose": ("bbc_pose", _bbc),
    "coco": ("coco", _coco),
    "flic": ("flic", lambda path: flic_file(path, [{}, {}])),
    "lsp": ("lsp", lambda path: lsp_file(path, np.ones((3, 14, 3)))),
    "mpii": ("mpii", lambda path: mpii_file(path, [("a.jpg", [mpii_person([(0, 1, 2, 1)])] * 2)], train=[1])),
    "mpii json": ("mpii", _mpii_json),
    "synchronic": ("synchronic", _sticks),
}


def test_every_reader_is_tested_here() -> None:
    assert {name for name, _ in FILES.values()} == set(POSE_READERS)
    with pytest.raises(UnknownNameError, match="did you mean 'mpii'"):
        POSE_READERS.get("mpi")


@pytest.mark.parametrize("kind", FILES)
def test_contract(kind: str, tmp_path: Path) -> None:
    name, write = FILES[kind]
    reader = POSE_READERS.get(name)()
    path = write(tmp_path / "file.dat")
    found = reader.read(path)
    assert (reader.name, bool(reader.version), reader.first_pixel in (0, 1)) == (name, True, True)
    assert found.people
    assert reader.read(path) == found
    for person in found.people:
        assert {joint.person for joint in person.joints} == {person.number}
        assert {joint.name for joint in person.joints} <= NAMES
        assert all((joint.side is not None) == (joint.name in SIDED) for joint in person.joints)


@pytest.mark.parametrize("kind", ["coco", "mpii json", "synchronic"])
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_end_in_input_errors_or_problems(kind: str, tmp_path: Path, data: st.DataObject) -> None:
    name, write = FILES[kind]
    path = write(tmp_path / "file.dat")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    damaged = path.with_name(f"damaged{path.suffix}")
    damaged.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    _read_damaged(name, damaged)


def _read_damaged(name: str, damaged: Path) -> None:
    try:
        found = POSE_READERS.get(name)().read(damaged)
    except InputError:
        pass
    else:
        assert all(person.joints and np.isfinite([(j.x, j.y) for j in person.joints]).all() for person in found.people)
        assert all(problem.where and problem.reason for problem in found.problems)


@pytest.mark.parametrize("attempts", [2, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["bbc_pose", "flic", "lsp", "mpii"])
def test_damaged_matlab_files_do_not_end_the_process(kind: str, attempts: int, tmp_path: Path) -> None:
    """Few, because each needs a process; among these are files on which SciPy alone ends in a segmentation fault."""
    name, write = FILES[kind]
    content = write(tmp_path / "file.mat").read_bytes()
    rng = np.random.default_rng(3)
    damaged = tmp_path / "damaged.mat"
    for attempt in range(attempts):
        mangled = bytearray(content)
        for position in rng.integers(0, len(content), 3):
            mangled[position] = rng.choice([0, 255, 14, 15])
        damaged.write_bytes(mangled[: len(content) // 2] if attempt == 0 else mangled)
        _read_damaged(name, damaged)


JUNK = st.sampled_from([
    None, np.zeros((0, 0)), np.array([["text"]]), np.array([[np.nan]]), np.array([[np.inf]]), np.ones((2, 3, 4)),
    np.array([[1 + 2j]]), struct_array([{"x": 1}]), np.array([[None, 5]], dtype=object), np.array([[True]]),
])  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "variable"), [("bbc_pose", "shortbbcpose"), ("flic", "examples"), ("lsp", "joints"), ("mpii", "RELEASE")]
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_strange_values_in_matlab_files(
    kind: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    path = FILES[kind][1](tmp_path / "file.mat")
    value = io.loadmat(path)[variable]
    for _ in range(data.draw(st.integers(1, 3))):
        value = _spoilt(value, data)
    monkeypatch.setattr("inpaintbench.wings.chalearn.annotated_people.matlab.load_variable", lambda _path, _variable: value)
    _read_damaged(kind, path)


def _spoilt(value: Any, data: st.DataObject) -> Any:
    """``value`` with one of its parts, at any depth, replaced by junk."""
    nested = isinstance(value, np.ndarray) and value.size and (value.dtype.names or value.dtype == object)
    if not nested or data.draw(st.integers(0, 9)) == 0:
        return copy.deepcopy(data.draw(JUNK))  # else junk could come to hold itself
    index = np.unravel_index(data.draw(st.integers(0, value.size - 1)), value.shape)
    if value.dtype.names:
        name = data.draw(st.sampled_from(value.dtype.names))
        value[name][index] = _spoilt(value[name][index], data)
    else:
        value[index] = _spoilt(value[index], data)
    return value


@pytest.mark.parametrize("name", ["coco", "mpii", "synchronic"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300) | st.text(alphabet='[]{}",:0 6\nNaN.jpg', max_size=100).map(str.encode))
def test_noise_is_an_input_error(name: str, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "noise.json"
    path.write_bytes(content)
    with suppress(InputError):
        assert not POSE_READERS.get(name)().read(path).people


@pytest.mark.parametrize("bad", ["", "/etc/a.jpg", "../a.jpg", "a/../../b", "a\n.jpg", "\ud800.jpg", None, 5, ".", "\\up"])
def test_names_that_leave_the_folder_are_refused(bad: object) -> None:
    assert image_name(bad) is None


def test_names_with_backslashes_and_numbers_in_disguise() -> None:
    assert image_name("a\\b c.jpg") == "a/b c.jpg"
    assert number(np.array([["7"]])) == 7.0
    assert [number(value) for value in (float("inf"), 10**400, "x", None, [1], np.zeros(2), 1j)] == [None] * 7


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "file", "people"),
    [("mpii", "mpii/test_mpii.json", 5), ("coco", "coco/test_coco.json", 12), ("coco", "crowdpose/test_crowdpose.json", 4),
     ("coco", "ochuman/test_ochuman.json", 5), ("coco", "mpii/test_mpii_trb.json", 5)],
)  # fmt: skip
def test_real_files(assets: Path, name: str, file: str, people: int) -> None:
    found = POSE_READERS.get(name)().read(assets / "poses/pose-mmpose/tests/data" / file)
    assert len(found.people) == people
    assert all(isinstance(joint, Joint) for person in found.people for joint in person.joints)
