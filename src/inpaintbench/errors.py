"""Exceptions that this package raises on purpose.

InpaintBenchError
├── InputError              the user's input cannot be used (wrong path, name, value)
│   ├── UsageError          a command was called wrongly, which its arguments alone show
│   ├── UnknownNameError    a name that no catalogue holds; suggests the nearest
│   ├── MissingExtraError   an optional dependency is not installed; carries the pip line
│   └── MediaError          a video or image cannot be read
├── MaskShapeError          a hole track does not fit its clip
├── NotMeasurable           a leaf has no value for this item; becomes ``None`` + reason
│   └── ProgramFailed       a program cannot be started, fails or takes too long
├── Rejected                a step has no rows for this subject; becomes a row of ``rejected``
├── NetworkError            a download or a question to a server failed for now; the next run tries again
├── Gone                    a file is no longer at its address
├── Waiting                 a run cannot go on before people have answered; nothing is wrong
├── UndeclaredNeedError     a leaf asked its view for something it did not declare
├── MissingPartError        a view was asked for something this item does not have
├── WorkspaceError          a workspace cannot be read or written (disk full, permissions, format)
├── RunError                a run ended without a usable result
│   └── TooManyFailures     a step came to the end of its failure budget; carries the last item and its reason
└── VerifyError             stored bytes are not those that their hash says: of a frozen dataset, a run, a workspace
"""

from __future__ import annotations

import errno

_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR, errno.EFBIG}


class InpaintBenchError(Exception):
    """Base of all errors raised on purpose; its text is one clear sentence."""


class InputError(InpaintBenchError):
    """The user's input cannot be used."""


class UsageError(InputError):
    """The command was called wrongly, which its arguments alone show."""


class UnknownNameError(InputError):
    """A name that no catalogue holds."""


class MissingExtraError(InputError):
    """An optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f'{purpose} needs the extra "{extra}": {how_to_install(extra)}')


def how_to_install(extra: str) -> str:
    """Return what brings an extra; the package is on no index, so that only a clone can."""
    return f'`make setup` in the clone of inpaintbench, or pip install "PATH_TO_CLONE[{extra}]"'


class MediaError(InputError):
    """A video or image cannot be read."""


class MaskShapeError(InpaintBenchError):
    """A hole track does not fit its clip."""


class NotMeasurable(InpaintBenchError):
    """A leaf has no value for this item; the text is the reason."""


class ProgramFailed(NotMeasurable):
    """A program cannot be started, fails or takes too long."""


class Unavailable(NotMeasurable):
    """A program or a server of the user's failed: the next run tries it again."""


class Rejected(InpaintBenchError):
    """A step has no rows for this subject; the text is the reason."""


class NetworkError(InpaintBenchError):
    """A download or a question to a server failed for now; the next run tries again."""


class Gone(InpaintBenchError):
    """A file is no longer at its address."""


class Waiting(InpaintBenchError):
    """A run cannot go on before people have answered."""


class UndeclaredNeedError(InpaintBenchError):
    """A leaf asked its view for something it did not declare."""


class MissingPartError(InpaintBenchError):
    """A view was asked for something this item does not have."""


class WorkspaceError(InpaintBenchError):
    """A workspace cannot be read or written."""


class RunError(InpaintBenchError):
    """A run ended without a usable result."""


class TooManyFailures(RunError):
    """A step came to the end of its failure budget."""

    def __init__(self, step: str, *, most: int, subject_id: str, reason: str) -> None:
        self.most, self.subject_id, self.reason = most, subject_id, reason
        super().__init__(f"{step}: more than {most} failures, the last one: {subject_id}: {reason}")


class VerifyError(InpaintBenchError):
    """Stored bytes are not those that their hash says.

    Attributes:
        blob: name of the blob of a workspace that they are, or would be; "" = of none.
    """

    blob = ""


def reason_of(error: BaseException) -> str:
    """Return what went wrong in a few words: what the system says of an error of its own, else the error's text."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def is_disk_error(error: BaseException) -> bool:
    """Return whether ``error`` says that writing is impossible now, so that going on with other items is pointless."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRORS
