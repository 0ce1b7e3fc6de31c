"""Tells commands and web addresses of the user's how a build ended: the section `notices` of corpus.yaml."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from corpus_assets.config.notices import Event
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import amount, duration
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.building.telling.delivery import deliver
from resources.version import VERSION

MAX_LINES = 20
"""Errors and red checks of a notice; the counts are of all."""

_MAX_SIGNS = 1000


def tell_of_end(corpus: Corpus, report: Report, warn: Callable[[str], None], error: Exception | None = None) -> None:
    """Tells everybody who asked for it, each once. `warn` gets what could not be delivered; nothing is raised.

    A build that had nothing to do tells nobody. error: with which the build ended; its report is not complete then.
    """
    happened = _events(report, error)
    for place, notice in enumerate(corpus.config.notices):
        events = [event for event in happened if event in notice.on]
        if events:
            body = msgspec.json.encode(_body(corpus, report, error, events))
            if why := deliver(notice, body, corpus.folder):
                warn(f"notices.{place} ({notice.words}) was not delivered: {why}")


def _events(report: Report, error: Exception | None) -> list[Event]:
    found: list[Event] = []
    if error is not None or report.failed or report.held_back:
        found.append("failed")
    if report.failed_checks:
        found.append("check_failed")
    if found or report.recomputed or report.elsewhere:
        found.append("ended")
    return found


def _body(corpus: Corpus, report: Report, error: Exception | None, events: Sequence[Event]) -> dict[str, Any]:
    """Returns what a notice says (docs/notices.md)."""
    ended = [_line(str(error) or type(error).__name__)] if error is not None else []
    return {
        "corpus": corpus.config.name,
        "store": corpus.storage.place,
        "version": VERSION,
        "events": events,
        "text": _text(corpus, report, ended),
        "run": report.run or None,
        "recomputed": report.recomputed,
        "elsewhere": report.elsewhere,
        "fresh": report.fresh,
        "failed": len(report.failed),
        "waiting": len(report.waiting),
        "red_checks": len(report.failed_checks),
        "seconds": report.seconds,
        "errors": [*ended, *map(_line, report.failed[:MAX_LINES])],
        "checks": [_line(line) for line in report.failed_checks[:MAX_LINES]],
        "held_back": [_line(line) for line in report.held_back[:MAX_LINES]],
    }


def _text(corpus: Corpus, report: Report, ended: Sequence[str]) -> str:
    """Returns the notice as a sentence, which chats show as the message."""
    counts = [amount(report.recomputed, "partitions") + " recomputed"]
    counts += [f"{len(report.failed):,} failed"] if report.failed else []
    counts += [amount(len(report.failed_checks), "red checks")] if report.failed_checks else []
    counts += [f"{len(report.waiting):,} waiting"] if report.waiting else []
    first = next(iter([*ended, *report.failed, *report.failed_checks, *report.held_back]), "")
    said = f": {_line(first)}" if first else ""
    return f"corpus {corpus.config.name}: {', '.join(counts)}, in {duration(report.seconds)}{said}"


def _line(words: str) -> str:
    return " ".join(words.split())[:_MAX_SIGNS]
