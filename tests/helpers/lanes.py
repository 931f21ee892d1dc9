"""Two lanes of tests: ``make test`` tries a change in minutes, ``make test-long`` all that takes longer."""

from __future__ import annotations

import signal
from typing import Any

from hypothesis import is_hypothesis_test, settings

FAST_EXAMPLES = 20
"""The most examples that a property is tried on in the fast lane, whatever it asks for: most faults fail on the first few."""
settings.register_profile("fast", deadline=None, max_examples=FAST_EXAMPLES)
settings.register_profile("long", deadline=None, max_examples=200)


def hold_to_fast(test: Any) -> None:
    """Let a property that asks for more have ``FAST_EXAMPLES``, but in the long lane."""
    if settings.get_current_profile_name() != "fast" or not is_hypothesis_test(test):
        return
    # Where hypothesis keeps what `@settings` said: the decorator cannot be applied a second time.
    asked = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(asked, max_examples=min(asked.max_examples, FAST_EXAMPLES))


def default_signals() -> None:
    """Undo what `nohup` or a job in the background ignores: programs that a test starts inherit it and could not be stopped."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
