"""The folder of the shared reference data; tests that need it skip with a reason if it is absent."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


def shared(*parts: str) -> Path:
    """Path under the shared folder; skips the calling test when it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no ../shared/{'/'.join(parts)} beside this checkout")
    return path
