"""Checkpoints that cannot be used."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.wings.chalearn.training.made import LEAVES, planted

from inpaintbench.errors import InputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
NAME = "residual_encoder"


def use(folder: Path, name: str = NAME) -> Any:
    return LEAVES[name](checkpoint=str(folder), device="cpu")


def exchange(folder: Path, data: bytes) -> None:
    """Other parameters, to which the facts are made to fit."""
    (folder / "network.pt").write_bytes(data)
    facts = json.loads((folder / "network.json").read_text())
    (folder / "network.json").write_text(json.dumps({**facts, "sha256": sha256(data).hexdigest()}))


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_the_hash_is_part_of_the_version(tmp_path: Path) -> None:
    planted(NAME, tmp_path)
    assert use(tmp_path).version == f"1+{sha256((tmp_path / 'network.pt').read_bytes()).hexdigest()[:16]}"


def test_a_checkpoint_with_code_in_it_is_not_run(tmp_path: Path) -> None:
    planted(NAME, tmp_path)
    torch.save({"first.0.weight": Touch(tmp_path / "run")}, tmp_path / "evil.pt")
    exchange(tmp_path, (tmp_path / "evil.pt").read_bytes())
    with pytest.raises(InputError, match=r"network\.pt holds more than tensors, or is damaged; it is not read"):
        use(tmp_path)
    assert not (tmp_path / "run").exists()


def test_torn_and_exchanged_parameters(tmp_path: Path) -> None:
    planted(NAME, tmp_path)
    data = (tmp_path / "network.pt").read_bytes()
    (tmp_path / "network.pt").write_bytes(data[:1000])
    with pytest.raises(InputError, match=r"network\.pt in .* is torn or another file: its SHA-256 begins with"):
        use(tmp_path)
    exchange(tmp_path, data[:1000])
    with pytest.raises(InputError, match=r"network\.pt cannot be read as a file of parameters"):
        use(tmp_path)


def test_parameters_of_another_network(tmp_path: Path) -> None:
    planted("frame_autoencoder", tmp_path / "frames")
    with pytest.raises(InputError, match="holds a frame_autoencoder, not a residual_encoder; choose the method of that name"):
        use(tmp_path / "frames")
    planted(NAME, tmp_path / "prints")
    exchange(tmp_path / "prints", (tmp_path / "frames" / "network.pt").read_bytes())
    with pytest.raises(InputError, match="holds no residual_encoder of width 2"):
        use(tmp_path / "prints")


@pytest.mark.parametrize("missing", ["network.pt", "network.json"])
def test_files_that_are_not_there(tmp_path: Path, missing: str) -> None:
    planted(NAME, tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(InputError, match=f"no {missing} in .*; give the folder that `eval train residual_encoder` wrote"):
        use(tmp_path)


def told(**fields: Any) -> str:
    return json.dumps({"network": NAME, "sha256": "0", "items": [], "settings": {}} | fields)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", "\udce9", told(network=3), told(network="lama"), told(sha256=0), told(items=3),
     told(settings=3), told(settings={"width": 0}), told(settings={"depth": 3})],
    ids=repr,
)  # fmt: skip
def test_facts_that_are_damaged(tmp_path: Path, text: str) -> None:
    planted(NAME, tmp_path)
    (tmp_path / "network.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"network\.json' is damaged \(.*\); train the network again"):
        use(tmp_path)
