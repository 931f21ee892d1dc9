from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanes import FAST_EXAMPLES, hold_to_fast

HERE = Path(__file__).parent / "helpers"


@pytest.mark.parametrize(("profile", "examples"), [("fast", FAST_EXAMPLES), ("long", 5 * FAST_EXAMPLES)])
def test_a_property_gets_all_of_its_examples_in_the_long_lane_alone(profile: str, examples: int) -> None:
    before, tried = settings.get_current_profile_name(), []

    @settings(max_examples=5 * FAST_EXAMPLES)
    @given(st.integers())
    def integers(number: int) -> None:
        tried.append(number)

    settings.load_profile(profile)
    try:
        hold_to_fast(integers)
    finally:
        settings.load_profile(before)
    integers()
    assert len(tried) == examples


def test_a_program_of_a_test_can_be_stopped_where_the_tests_themselves_ignore_it() -> None:
    child = (
        "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)])"
    )
    tests = (
        f"import subprocess, sys, lanes; lanes.default_signals(); subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    words = ["sh", "-c", 'trap "" INT TERM QUIT; exec "$@"', "sh", sys.executable, "-c", tests]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=HERE)
    assert done.stdout.strip() == "[False, False, False]"
