"""The log of a build's errors: all of them, whole, in a file below the DAGSTER_HOME."""

from datetime import UTC, datetime
from pathlib import Path

from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.home.folder import dagster_home

FOLDER = "errors"
_KEPT = 20


def write_error_log(folder: Path, report: Report) -> Path | None:
    """Writes every error of a build to a file and returns its path; None if there are none, or it cannot be written.

    The logs of the last builds are kept. folder: that of corpus.yaml.
    """
    lines = [*report.failed, *(f"check: {line}" for line in report.failed_checks)]
    lines += [f"held back: {line}" for line in report.held_back]
    if not lines:
        return None
    lines += [f"waits: {line}" for line in report.waiting]
    logs = dagster_home(folder) / FOLDER
    path = logs / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}.log"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")
        for old in sorted(logs.glob("*.log"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path
