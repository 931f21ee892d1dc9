"""The machine's own answers, in the options of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.annotate.preparing.subjects import StudySubject
from inpaintbench.annotate.questions.base import Option
from inpaintbench.errors import InputError
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

_PERCENT = 100.0


def suggestions(
    workspace: Workspace, subjects: Sequence[StudySubject], *, attribute: str, options: Sequence[Option]
) -> dict[str, str]:
    """Subject id -> the option that ``attribute`` comes nearest to; subjects without a value, or with one that fits none, lack.

    A fact about the clip goes before one about its source. Texts and labels have to equal an option. Numbers go to the nearest
    option that is a number, the smaller of two as near; where options go up to 100, a measure whose values all lie in 0..1 is a
    share, and 1 is 100.

    Raises:
        InputError: the workspace has no such attribute.
    """
    rows = [row for row in workspace.table("attributes", Attribute) if row.name == attribute]
    if not rows:
        raise InputError(
            f"workspace {str(workspace.path)!r} has no attribute {attribute!r} to suggest answers with; "
            f"measure it with `inpaintbench curation measure`, or leave suggested_by out"
        )
    values = {row.subject_id: row.value for row in rows if row.value is not None}
    unit = _unit(values, options)
    found = ((one.subject_id, values.get(one.subject_id, values.get(one.cluster))) for one in subjects)
    nearest = ((subject_id, _nearest(value, options, unit=unit)) for subject_id, value in found)
    return {subject_id: option for subject_id, option in nearest if option is not None}


def _unit(values: Mapping[str, float | str], options: Sequence[Option]) -> float:
    numbers = [value for value in values.values() if not isinstance(value, str)]
    shares = all(0 <= value <= 1 for value in numbers)
    return _PERCENT if shares and max(_numbers(options), default=0) == _PERCENT else 1.0


def _numbers(options: Sequence[Option]) -> dict[float, str]:
    found: dict[float, str] = {}
    for option in options:
        try:
            found[float(option.value)] = option.value
        except ValueError:
            continue
    return found


def _nearest(value: float | str | None, options: Sequence[Option], *, unit: float) -> str | None:
    if value is None or isinstance(value, str):
        return value if value in [option.value for option in options] else None
    numbers = _numbers(options)
    if not numbers:
        return None
    return numbers[min(numbers, key=lambda number: (abs(number - value * unit), number))]
