"""The bench that plants faults: it plants those that matter, and a few of them are noticed in every long run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
PLANTED = [
    ("executors/base", "canonical_json([step.name, each])"),
    ("export/slices", "((low) <= (number) <= (high))"),
    ("curation/bars", "SYMMETRY * looks[0].size[side // (3)]"),
    ("annotate/desk/pairs", "(math.log(share + (0)) + miss)"),
    ("eval/metrics/removal", "LEAST_LEVELS = (1.0 / 3)"),
    ("eval/results/measured", "method: ((count) <= 1) for method"),
    ("annotate/screening/against_raters", "((side) > (limit))"),
    ("eval/metrics/xpsnr", "_FAST = (31)"),
]


@pytest.mark.parametrize(("module", "fault"), PLANTED)
def test_faults_that_would_mislead_are_among_the_planted(module: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_planted(module, fault, monkeypatch)


def check_planted(module: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from _mutants import mutants

    source = (BENCH.parent / "src" / "inpaintbench" / f"{module}.py").read_bytes()
    changed = [one.applied(source).decode() for one in mutants(source)]
    assert sum(fault in text for text in changed) == 1
    assert len(set(changed)) == len(changed)
    assert fault not in source.decode()


@pytest.mark.long
@pytest.mark.skipif(not (BENCH.parent / ".git").exists(), reason="copies what git knows")
def test_a_sample_of_planted_faults_is_noticed() -> None:
    done = subprocess.run([sys.executable, str(BENCH / "mutation.py"), "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
