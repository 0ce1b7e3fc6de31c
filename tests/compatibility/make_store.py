"""Builds the corpora of a kept store and packs them: `.venv/bin/python -m tests.compatibility.make_store`.

Run it before a minor version is released, and not again afterwards: what is kept is what that version wrote.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.build.small import drive, opened
from tests.compatibility.kept import archive_of, pack
from tests.golden_content import corpora, kinds

LIMIT = 600_000
"""Bytes of an archive."""
_SAMPLES = {
    "files": {"share": 0.3, "seed": 1},
    "prose": {"share": 0.15, "seed": 3},
    "sampled": {"share": 0.1, "seed": 2},
}
_SAMPLE = {"share": 0.15, "seed": 2}
"""What leaves enough documents for every entry and gate."""
_LEFT_OUT = {
    "prose": {"raw"},
    "web": {"amber-mix"},
    "files": {"chat-axolotl", "pairs-completion", "pairs-start", "packed-lpfhp", "chat-kept", "rows-drawn", "dpo-kept"}
    | {"rows-over-files-shuffled", "turns-cerebras", "pairs-end", "parts", "parquet-rows"}
    | {"text-table", "rows-over-files", "pairs-cerebras", "rows-cerebras", "rows-shuffled"},
}
"""Entries by corpus that a sample cannot have, that need more documents than it leaves, or that resemble others."""


def sampled(name: str, folder: Path) -> None:
    """Places a golden corpus in a new folder, sampled."""
    shutil.copytree(corpora.HERE / "given", folder)
    config = yaml.safe_load((corpora.HERE / "corpora" / f"{name}.yaml").read_text(encoding="utf-8"))
    config["sample"] = _SAMPLES.get(name, _SAMPLE)
    for key in ("streams", "datasets"):
        config[key] = _smaller(config.get(key, []), _LEFT_OUT.get(name, set()))
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def _smaller(entries: list[dict[str, Any]], without: set[str]) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["name"] not in without]


def build(folder: Path) -> set[str]:
    """Builds all golden corpora in a folder; returns the kinds of their stages. `AssertionError` names what failed."""
    found = set()
    for name in corpora.NAMES:
        sampled(name, folder / name)
        corpus = opened(folder / name)
        done = drive(corpus, list(corpus.graph))
        if faults := [*done.failed, *done.waiting]:
            raise AssertionError(f"corpus {name}: {faults[0]}")
        found |= kinds.found_in(corpus)
    return found


def main() -> int:
    """Writes the archive of this version; returns 1 if a kind of stage is missing or the archive is too large."""
    archive = archive_of()
    with tempfile.TemporaryDirectory() as folder:
        missing = sorted(kinds.possible() - build(Path(folder)))
        pack(Path(folder), archive)
    size = archive.stat().st_size
    print(f"{archive.name}: {size:,} bytes, at most {LIMIT:,}; kinds of stages that are missing: {missing or 'none'}")
    return int(size > LIMIT or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
