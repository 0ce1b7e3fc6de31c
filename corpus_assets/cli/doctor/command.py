"""`corpus doctor`: says whether this machine can build the corpus, and what to do if it cannot."""

import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from corpus_assets.cli.console import FAILED, output, print_json, print_line
from corpus_assets.cli.doctor.finding import Finding


def run(config: Path | None, changes: Sequence[str] = (), *, as_json: bool) -> int:
    """Prints a line per subject; returns the exit code: 1 if something is broken."""
    found = []
    for finding in _findings(config, changes):
        found.append(finding)
        if not as_json:
            _print(finding)
    broken = [finding.subject for finding in found if finding.broken]
    if as_json:
        print_json({"ok": not broken, "findings": [asdict(finding) for finding in found]})
    return FAILED if broken else 0


def _findings(config: Path | None, changes: Sequence[str]) -> Iterator[Finding]:
    """Yields the findings; if packages are missing, only those of checks that load without them."""
    yield Finding("python", f"{platform.python_version()}, {sys.executable}")
    try:
        from corpus_assets.cli.doctor.packages import compared

        yield compared()
        from corpus_assets.cli.doctor.health import findings
        from corpus_assets.corpus.corpus import Corpus

        yield from findings(lambda: Corpus.open(config, changes, read_only=True))
    except ImportError as error:
        advice = "install what is missing; the rest cannot be looked at before"
        yield Finding("program", str(error), advice, broken=True)


def _print(finding: Finding) -> None:
    advice = f"; {finding.advice}" if finding.advice else ""
    print_line(output(), f"{finding.subject}: {finding.found}{advice}", "broken" if finding.broken else "")
