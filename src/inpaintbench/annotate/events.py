"""Events of a study, one record each: the journal keeps them in order and never changes one.

The state of a study is what folding its events gives, so it can always be made again.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from inpaintbench.types import Plain

Kind = Literal[
    "lease", "renew", "answer", "skip", "undo", "resume", "exclude", "include", "screening", "arrive", "consent", "rest", "finish"
]  # fmt: skip
# `training` and `test`: of a crowd's practice and its test beforehand; `warmup`: of a rater's first tasks. They are no votes.
Purpose = Literal["vote", "gold", "repeat", "training", "test", "warmup"]
# What a rater knew of the machine's answer: nothing; nothing until they had answered; it was chosen beforehand; or they had seen
# it after an earlier answer of theirs to the same task, which they took back or which is asked once more.
SuggestionShown = Literal["hidden", "after", "prefill", "seen"]
# Answers given by raters who knew the machine's: they may lean towards it.
ANCHORED: frozenset[str] = frozenset({"prefill", "seen"})

# Rater id of events that are nobody's.
STUDY = "-"


class Event(NamedTuple):
    """One line of the journal.

    The body of each kind:

    * ``lease``: a task is handed out. ``lease_id``, ``task_id``, ``shown`` (candidates in the order shown, list; empty where an
      imported answer does not say, and places in ``given`` are then those of the task), ``purpose``
      (as it was then: the study may have learnt since that the task is gold, or that it is none), ``expires_at`` (seconds
      since 1970).
    * ``renew``: the rater still has it open. ``lease_id``, ``expires_at``.
    * ``answer``: ``submission_id``, ``lease_id``, ``task_id``, ``given`` (part -> value, as sent), ``choice`` (in the
      names of what was shown), ``seconds`` (from first frame shown to answer), ``watched_frames``,
      ``dropped_frames``, ``plays``, ``stuttered``, ``suggestion_shown`` (see ``SuggestionShown``), ``seen`` (see
      ``desk.cards.SentSeen``; missing where nobody said it).
    * ``skip``: ``submission_id``, ``lease_id``, ``task_id``, ``reason``, ``text``.
    * ``undo``: ``submission_id``, ``undoes`` (submission id of an answer or a skip), ``task_id``.
    * ``resume``: an admin lets a paused rater go on, or a stranger has read the instructions again (``by`` is then ``rater``).
    * ``arrive``: a platform sent somebody, for the first time. Nothing else: who it is stands in no event.
    * ``consent``: ``text_sha256`` of what they read, ``answer`` (whether they agree).
    * ``rest``: a break of ``seconds`` begins.
    * ``finish``: their part has ended, with ``outcome`` (see ``crowd.Outcome``).
    * ``exclude``: what the rater says counts for nothing until it is included again. ``submission`` (of one answer of theirs;
      None for all, those to come too), ``reason``, ``rule`` (that proposed it; None where a person decided), ``by`` (rater id of
      an admin, or ``command``).
    * ``screening``: the rules of the study file when work began, and whenever they changed; of rater ``STUDY``. ``rules``
      (name -> constants, ``auto`` and ``version``).
    * ``include``: it counts again, and no rule may exclude it by itself. ``submission``, ``reason``, ``by``.
    """

    seq: int
    """Grows within a study; gaps mean nothing."""
    at: float
    """Seconds since 1970, of the server."""
    kind: Kind
    rater_id: str
    body: Plain
