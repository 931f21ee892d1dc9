"""One repository on the Hub, of a dataset or a model: asked patiently, with errors in a sentence that never holds the token."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from inpaintbench.errors import InputError, NetworkError, WorkspaceError, is_disk_error

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# As huggingface_hub checks it, with an owner.
_NAME = re.compile(r"(?!.*(?:--|\.\.|\.git$))\w(?:[\w.-]{0,94}\w)?/\w(?:[\w.-]{0,94}\w)?", re.ASCII)
_SECRET = re.compile(r"hf_\w+|(?i:bearer)\s+\S+|(?i:authorization)\W+\S+(?:\s+\S+)?")
_TRIES = 6
_LONGEST_WAIT_SECONDS = 300.0
_PASSING = (408, 429, 500, 502, 503, 504)
_LONGEST_WORD = 200
# Loggers that repeat the headers of answers, at level DEBUG at the latest.
_LOUD = ("huggingface_hub", "httpx", "httpx2", "httpcore", "httpcore2")
Result = TypeVar("Result")
Kind = Literal["dataset", "model"]


@dataclass(frozen=True)
class Remote:
    """A file as the Hub lists it."""

    git_sha1: str
    sha256: str | None
    """None of small files, which the Hub keeps in git itself."""
    bytes: int


def check_name(name: str, *, kind: Kind = "dataset") -> None:
    """Raise ``InputError`` unless a repository of the Hub can have this name."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} does not name a {kind} of the Hub; give OWNER/NAME")


@contextmanager
def opened(name: str, *, kind: Kind = "dataset") -> Iterator[Repository]:
    """A repository ``OWNER/NAME``; while the block runs, the library's own bars, warnings and log lines are silent.

    They repeat what servers say, and servers may repeat the token.

    Raises:
        InputError: no such name can be.
    """
    import logging

    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    loggers = [logging.getLogger(loud) for loud in _LOUD]
    levels, bars = [logger.level for logger in loggers], not are_progress_bars_disabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        disable_progress_bars()
        try:
            yield Repository(name, kind=kind)
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            if bars:
                enable_progress_bars()


class Repository:
    """A repository, with the token that `hf auth login` or ``HF_TOKEN`` gives; see ``opened``."""

    def __init__(self, name: str, *, kind: Kind = "dataset") -> None:
        from huggingface_hub import HfApi, get_token

        check_name(name, kind=kind)
        self.name, self.kind = name, kind
        self._token = get_token()
        # Asked for at every call: the library itself reads its environment once, when it is imported.
        self.endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
        self._api: HfApi = HfApi(endpoint=self.endpoint, token=self._token or False)

    @property
    def url(self) -> str:
        """Address of its page."""
        return f"{self.endpoint}/{'datasets/' if self.kind == 'dataset' else ''}{self.name}"

    def require_token(self) -> None:
        """Raise ``InputError`` unless there is a token."""
        if not self._token:
            raise InputError(
                "the Hub wants to know who publishes: set HF_TOKEN to a token that may write, or run `hf auth login`"
            )

    def create(self, *, private: bool) -> bool:
        """Make it unless it is there; whether it is private now."""
        self._ask(lambda: self._api.create_repo(self.name, repo_type=self.kind, private=private, exist_ok=True))
        return bool(self._ask(lambda: self._api.repo_info(self.name, repo_type=self.kind)).private)

    def branch(self, revision: str) -> None:
        """Make a branch unless it is there."""
        self._ask(lambda: self._api.create_branch(self.name, branch=revision, repo_type=self.kind, exist_ok=True))

    def commit_of(self, revision: str | None) -> str:
        """The commit that a branch, a tag or the beginning of a commit stands for."""
        return str(self._ask(lambda: self._api.repo_info(self.name, repo_type=self.kind, revision=revision)).sha)

    def files(self, revision: str | None) -> dict[str, Remote]:
        """Every file: path -> what the Hub knows of it."""
        from huggingface_hub.hf_api import RepoFile

        def listed() -> list[Any]:
            return list(self._api.list_repo_tree(self.name, recursive=True, revision=revision, repo_type=self.kind))

        entries = [entry for entry in self._ask(listed) if isinstance(entry, RepoFile)]
        return {file.path: Remote(file.blob_id, file.lfs.sha256 if file.lfs else None, file.size) for file in entries}

    def branches(self) -> list[str] | None:
        """Names of all branches and tags; None where the server lists none."""
        refs = self._ask(lambda: _if_offered(lambda: self._api.list_repo_refs(self.name, repo_type=self.kind)))
        return None if refs is None else [ref.name for ref in (*refs.branches, *refs.tags)]

    def commits(self, revision: str | None) -> list[tuple[str, str]] | None:
        """All commits that lead to a revision with their titles, newest first; None where the server lists none."""
        listed = self._ask(
            lambda: _if_offered(lambda: self._api.list_repo_commits(self.name, repo_type=self.kind, revision=revision))
        )
        return None if listed is None else [(entry.commit_id, entry.title) for entry in listed]

    def commit(
        self, message: str, files: Mapping[str, Path | bytes], *, deleted: Sequence[str] = (), revision: str | None
    ) -> None:
        """Upload files and commit them at once; what the Hub has already is not sent again."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        def sent() -> None:
            # Made anew for every try, since each remembers how far it came.
            adds = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=content) for name, content in files.items()]
            deletes = [CommitOperationDelete(path_in_repo=name) for name in deleted]
            self._api.create_commit(self.name, [*adds, *deletes], commit_message=message, repo_type=self.kind, revision=revision)

        self._ask(sent)

    def propose(self, message: str, files: Mapping[str, bytes]) -> str:
        """Open a pull request that adds files, and return its address. It is asked for once: a second try could open another."""
        from huggingface_hub import CommitOperationAdd

        adds = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=content) for name, content in files.items()]
        made = self._ask(
            lambda: self._api.create_commit(self.name, adds, commit_message=message, repo_type=self.kind, create_pr=True), tries=1
        )
        return str(made.pr_url)

    def download(self, name: str, *, commit: str, folder: Path) -> Path:
        """Bring a file to its place below ``folder``, going on where an earlier call was cut off."""
        return Path(
            self._ask(lambda: self._api.hf_hub_download(self.name, name, repo_type=self.kind, revision=commit, local_dir=folder))
        )

    def _ask(self, call: Callable[[], Result], *, tries: int = _TRIES) -> Result:
        # Of the library where the Hub or the way there failed.
        failures: tuple[type[BaseException], ...] = (OSError, RuntimeError, ValueError, *_transport_errors())
        for turn in range(tries):
            problem, wait = "", 0.0
            try:
                return call()
            except failures as error:
                if isinstance(error, OSError) and is_disk_error(error):
                    raise WorkspaceError(f"cannot be written: {error.strerror}") from None
                problem, status, wanted = self._problem(error)
                passing = status in _PASSING or (status is None and _is_transport(error))
                wait = min(wanted if wanted is not None else 2.0**turn, _LONGEST_WAIT_SECONDS) if passing else 0.0
                last = not passing or turn == tries - 1
            if last:
                # Outside of the handler: the library's own exception, whose text may repeat what was sent, is not carried along.
                raise NetworkError(problem)
            time.sleep(wait)
        raise AssertionError("unreachable")

    def _problem(self, error: BaseException) -> tuple[str, int | None, float | None]:
        """One sentence, the status that the Hub gave, and the seconds that it wants us to wait."""
        answer = next((response for cause in _chain(error) if (response := getattr(cause, "response", None)) is not None), None)
        if answer is None:
            said = "the Hub cannot be reached for" if _is_transport(error) else "the Hub could not do what was asked for"
            return f"{said} {self.name!r}: {self._clean(error)}", None, None
        status, after = int(answer.status_code), str(answer.headers.get("Retry-After", ""))
        message = next((str(text) for cause in _chain(error) if (text := getattr(cause, "server_message", None))), "")
        known = {
            401: f"the Hub does not accept the token, or wants one for this {self.kind}; run `hf auth login` or set HF_TOKEN",
            403: f"the token may not do this; make one that may write to this owner's {self.kind}s",
            404: f"the Hub shows no such {self.kind}, revision or file, or not to you; check the name, or run `hf auth login`",
        }
        said = known.get(status) or self._clean(message) or "no reason given"
        return f"{self.name!r}: HTTP {status}: {said}", status, float(after) if after.isdecimal() else None

    def _clean(self, text: object) -> str:
        """The first line of what somebody else said, without secrets, in printable characters."""
        line = str(text).strip().partition("\n")[0]
        if self._token:
            line = line.replace(self._token, "***")
        return "".join(letter for letter in _SECRET.sub("***", line) if letter.isprintable())[:_LONGEST_WORD]


def _if_offered(call: Callable[[], Result]) -> Result | None:
    """None where the server knows no such address."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return call()
    except HfHubHTTPError as error:
        if error.response is None or error.response.status_code != 404:
            raise
        return None


def _transport_errors() -> tuple[type[BaseException], ...]:
    """Exceptions of the HTTP library below; which library that is depends on the version of huggingface_hub."""
    from huggingface_hub.errors import HfHubHTTPError

    return tuple(
        kind
        for kind in HfHubHTTPError.__mro__
        if issubclass(kind, BaseException) and kind.__module__.partition(".")[0] in ("httpx", "httpx2")
    )


def _is_transport(error: BaseException) -> bool:
    from huggingface_hub.errors import OfflineModeIsEnabled

    chain = list(_chain(error))
    return any(isinstance(cause, _transport_errors()) for cause in chain) and not any(
        isinstance(cause, OfflineModeIsEnabled) for cause in chain
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
