"""What `corpus init` writes for every set of real data, and every hostile file, builds; or it says why not."""

import re
import shutil
from pathlib import Path

import pytest

from resources.errors import ConfigError
from tests.beginning.starts import begin, built
from tests.golden import SHARED, shared

pytestmark = pytest.mark.slow
LARGE = 3 << 20
"""Bytes of files from which on a tenth of the rows is built."""


def names(*parts: str, folders: bool) -> list[str]:
    """The names in a shared folder; one that is nowhere if there is none, whose test says so and is skipped."""
    top = SHARED.joinpath(*parts)
    found = sorted(path.name for path in top.iterdir() if path.is_dir() == folders) if top.is_dir() else []
    return found or ["nothing"]


def builds_or_says_why(place: Path, output: Path) -> None:
    done = begin(place, output)
    if done.exception is None:
        if sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) > LARGE:
            output.write_text(f"sample: {{share: 0.1}}\n{output.read_text()}")
        built(output)
    else:
        assert isinstance(done.exception, ConfigError), done.exception
        assert re.search(r"no files? that can be read.*nothing was written", str(done.exception), re.DOTALL)
        assert not output.exists()


@pytest.mark.parametrize("name", names("data", folders=True))
def test_every_set(name: str, tmp_path: Path) -> None:
    builds_or_says_why(shared("data", name), tmp_path / "corpus.yaml")


@pytest.mark.sampled(every=3)  # All of them are in the set `hostile`, too.
@pytest.mark.parametrize("name", names("data", "hostile", folders=False), ids=lambda name: name[:40])
def test_every_hostile_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    shutil.copy(shared("data", "hostile", name), tmp_path / "raw" / name)
    builds_or_says_why(tmp_path / "raw", tmp_path / "corpus.yaml")
