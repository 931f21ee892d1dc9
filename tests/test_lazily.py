from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest

from inpaintbench.lazily import lazily


def test_a_module_is_imported_when_one_of_its_names_is_asked_for() -> None:
    program = (
        "import sys; from inpaintbench.lazily import lazily; module = lazily('wave')\n"
        "assert 'wave' not in sys.modules; module.open; sys.exit(vars(module)['open'] is not sys.modules['wave'].open)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_what_a_module_lacks_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = lazily("json").nonsense


def test_threads_that_are_first_together_wait_for_one_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slowly_made.py").write_text("import time\ntime.sleep(0.1)\nmade = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    module, together = lazily("slowly_made"), Barrier(4)

    def first(place: int) -> object:
        together.wait()
        return module.made

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(first, range(4)))) == 1
    sys.modules.pop("slowly_made")


@pytest.fixture
def made_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package whose stub has names of two modules, one of them called like its name."""
    folder = tmp_path / "made_of_stub"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from inpaintbench.lazily import names_of_stub\n__all__ = names_of_stub(__name__, __file__)\n"
    )
    (folder / "__init__.pyi").write_text("from .page import (\n    Media,\n    page,\n)\nfrom .other import other_name\n")
    (folder / "page.py").write_text("from made_of_stub import other_name\nMedia = 1\ndef page(): return other_name\n")
    (folder / "other.py").write_text("other_name = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("made_of_stub")
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_of_stub"]:
        del sys.modules[name]


def test_names_of_a_stub_are_imported_when_they_are_asked_for(made_package: Any) -> None:
    assert made_package.__all__ == ["Media", "other_name", "page"]
    assert {"Media", "other_name", "page"} <= set(dir(made_package))
    assert "made_of_stub.other" not in sys.modules
    assert made_package.other_name == 2
    assert "made_of_stub.page" not in sys.modules
    with pytest.raises(AttributeError, match="module 'made_of_stub' has no attribute 'nonsense'"):
        _ = made_package.nonsense


def test_a_name_stays_where_its_module_is_called_alike(made_package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module("made_of_stub.page")
    assert made_package.page() == 2
    monkeypatch.setattr(made_package, "page", lambda: 3)  # as tests do
    assert made_package.page() == 3
