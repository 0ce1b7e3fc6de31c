"""The processes of `corpus ui`: those of `dagster dev`, with a web server that has the viewer in place of Dagster's."""

import warnings
from collections.abc import Sequence
from typing import Any

import dagster._cli.dev as dagster_dev
from dagster_shared.utils.warnings import SupersessionWarning

THEIRS, OURS = "dagster_webserver", "corpus_assets.webserver"
# Dagster offers no other way to have its other services start a web server that is not its own.
_start: Any = vars(dagster_dev)["open_ipc_subprocess"]


def start(parts: Sequence[str], **options: Any) -> Any:
    """Starts a process of `dagster dev`; where that is Dagster's web server, ours instead, with the same arguments."""
    return _start([OURS if part == THEIRS else part for part in parts], **options)


if __name__ == "__main__":
    # It says that `dg dev` has taken its place, which knows no web server but Dagster's.
    warnings.simplefilter("ignore", SupersessionWarning)
    vars(dagster_dev)["open_ipc_subprocess"] = start
    dagster_dev.dev_command()
