"""What every leaf of a kind has to do, as checks that `inpaintbench leaf check` and the tests run on any leaf.

A kind's checks are functions of a built leaf, ``CHECKS`` of the module ``contract`` beside its base class. Each is named for
what it checks and raises ``ContractError`` where the leaf does something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from inpaintbench.errors import InpaintBenchError

Check = Callable[[Any], None]


class ContractError(InpaintBenchError):
    """A leaf does not do what every leaf of its kind has to do; the text says what it did."""


def require(kept: object, told: str) -> None:
    """Raise ``ContractError`` with the text ``told`` unless ``kept`` is true."""
    if not kept:
        raise ContractError(told)


def words_of(check: Check) -> str:
    """What is checked, in words: the function's name."""
    return check.__name__.replace("_", " ")


def outcomes(checks: Sequence[Check], leaf: object) -> Iterator[tuple[str, str | None]]:
    """What each check looks for, with what was wrong, or None.

    A leaf that raises something that its kind does not allow for is wrong too: no exception of a leaf ends the checks.
    """
    for check in checks:
        try:
            check(leaf)
        except ContractError as error:
            yield words_of(check), str(error)
        except Exception as error:
            yield words_of(check), f"{type(error).__name__}: {error}"
        else:
            yield words_of(check), None


def states_its_facts(leaf: Any, *facts: str) -> None:
    """Name, version and documentation are there, and every one of the further ``facts``."""
    for fact in ("name", "version", "__doc__"):
        require(getattr(leaf, fact, None), f"it has no {fact}")
    for fact in facts:
        require(hasattr(leaf, fact), f"it does not state {fact}")
