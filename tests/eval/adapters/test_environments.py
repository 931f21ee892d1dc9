"""What released programs are installed with today."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from typer.testing import CliRunner

from inpaintbench.cli.evaluate import app
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.adapters.environments import beside, environments, requirements
from inpaintbench.eval.adapters.layouts import presets


def test_every_environment_is_a_preset_s_and_names_its_commit() -> None:
    assert {"e2fgvi", "e2fgvi-hq", "fuseformer", "lama", "propainter"} <= set(environments()) <= set(presets())
    for name in environments():
        lines = requirements(name).splitlines()
        assert re.search(rf"\bat {presets()[name].commit}\b", lines[0])
        packages = [line.partition("#")[0].strip() for line in lines if not line.startswith("#")]
        assert packages
        assert all(re.fullmatch(r"[A-Za-z0-9-]+((>=|==|<)[\d.]+)?", package) for package in packages)


def test_an_environment_is_printed_or_written(tmp_path: Path) -> None:
    out = tmp_path / "an environment"
    printed = CliRunner().invoke(app, ["layouts", "env", "e2fgvi"], catch_exceptions=False, env={"COLUMNS": "300"})
    assert "mmcv-full 1.4.8 is replaced by mmcv.py" in printed.output
    told = CliRunner().invoke(
        app, ["layouts", "env", "e2fgvi", "--out", str(out)], catch_exceptions=False, env={"COLUMNS": "300"}
    )
    assert (out / "requirements.txt").read_text() == requirements("e2fgvi")
    assert (out / "mmcv.py").read_text() == beside("e2fgvi")["mmcv.py"]
    assert f"export PYTHONPATH='{out}'" in told.output
    assert f"--python '{out / 'venv'}' --requirement '{out / 'requirements.txt'}'" in told.output
    CliRunner().invoke(app, ["layouts", "env", "propainter", "--out", str(out / "other")], catch_exceptions=False)
    assert [path.name for path in (out / "other").iterdir()] == ["requirements.txt"]
    with pytest.raises(InputError, match=r"has a requirements\.txt that says something else"):
        CliRunner().invoke(app, ["layouts", "env", "propainter", "--out", str(out)], catch_exceptions=False)
    assert (out / "requirements.txt").read_text() == requirements("e2fgvi")
    with pytest.raises(UnknownNameError, match="unknown environment 'propaintr', did you mean 'propainter'"):
        CliRunner().invoke(app, ["layouts", "env", "propaintr"], catch_exceptions=False)


@pytest.mark.parametrize("name", environments())
def test_the_form_of_conda_holds_the_same_requirements(name: str, tmp_path: Path) -> None:
    def lines(text: str) -> list[str]:
        return [line.partition("#")[0].strip() for line in text.splitlines() if not line.startswith("#")]

    told = CliRunner().invoke(
        app, ["layouts", "env", name, "--form", "conda", "--out", str(tmp_path)], catch_exceptions=False, env={"COLUMNS": "300"}
    )
    text = (tmp_path / "environment.yml").read_text()
    read = yaml.safe_load(text)
    assert read["name"] == name
    assert read["channels"] == ["conda-forge"]
    python = "3.10" if name == "lama" else "3.11"  # hydra-core 1.1 runs on none above
    version, pip, packages = read["dependencies"]
    assert (version, pip, list(packages)) == (f"python={python}", "pip", ["pip"])
    assert packages["pip"] == lines(requirements(name))
    for line in requirements(name).splitlines():  # what is replaced by what stands in either
        assert line.partition("#")[2] in text
    assert f"conda env create --prefix {tmp_path / 'conda'} --file {tmp_path / 'environment.yml'}" in told.output
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["environment.yml", *beside(name)])
    assert f"uv venv --python {python} " in CliRunner().invoke(app, ["layouts", "env", name, "--out", str(tmp_path)]).output
    with pytest.raises(UnknownNameError, match="unknown form of an environment 'cond'"):
        CliRunner().invoke(app, ["layouts", "env", name, "--form", "cond"], catch_exceptions=False)


def test_a_layout_names_its_environment_where_there_is_one() -> None:
    told = {name: CliRunner().invoke(app, ["layouts", name], catch_exceptions=False).output for name in ("propainter", "mat")}
    assert "inpaintbench eval layouts env propainter" in told["propainter"]
    assert "layouts env" not in told["mat"]


def test_what_stands_for_mmcv_does_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    for name in ("mmcv", "mmcv.ops", "mmcv.cnn", "mmcv.runner"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    exec(compile(beside("e2fgvi")["mmcv.py"], "mmcv.py", "exec"), {"__name__": "mmcv"})
    ops, cnn, runner = (sys.modules[f"mmcv.{name}"].__dict__ for name in ("ops", "cnn", "runner"))
    torch.manual_seed(0)
    made = ops["ModulatedDeformConv2d"](8, 4, 3, padding=1, deform_groups=2)
    given, still, all_of_it = torch.rand(1, 8, 6, 7), torch.zeros(1, 36, 6, 7), torch.ones(1, 18, 6, 7)
    found = ops["modulated_deform_conv2d"](given, still, all_of_it, made.weight, made.bias, 1, 1, 1, 1, 2)
    # Without offsets and with a mask of ones it is a convolution.
    torch.testing.assert_close(found, torch.nn.functional.conv2d(given, made.weight, made.bias, padding=1))
    layer = cnn["ConvModule"](8, 2, 3, 1, 1, norm_cfg=None, act_cfg={"type": "ReLU"})
    assert set(layer.state_dict()) == {"conv.weight", "conv.bias"}
    assert layer(given - 0.5).min() >= 0
    cnn["constant_init"](layer.conv, val=0, bias=3)
    assert (layer(given) == 3).all()
    kept, other = tmp_path / "kept.pth", cnn["ConvModule"](8, 2, 3)
    torch.save({"state_dict": layer.state_dict()}, kept)
    runner["load_checkpoint"](other, str(kept), strict=True)
    assert (other.conv.bias == 3).all()
