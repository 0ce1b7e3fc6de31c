"""`corpus view`: the viewer without Dagster."""

from pathlib import Path

import uvicorn

from corpus_assets.viewer.app import standing_alone


def serve(file: Path, host: str, port: int) -> None:
    """Serves the corpus of a configuration file until Ctrl-C."""
    uvicorn.run(standing_alone(file, host), host=host, port=port, log_level="warning", access_log=False)
