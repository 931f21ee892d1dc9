from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

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
