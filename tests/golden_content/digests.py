"""Digests of what each stage makes of the corpora, kept in a file; what is said of those that changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "digests.yaml"
AGAIN = ".venv/bin/python -m tests.golden_content.write"
_HEAD = f"# Written by {AGAIN}; tests/golden_content/__init__.py says what it is.\n"


@dataclass(frozen=True)
class Kept:
    """What is kept of a stage: its code version, and the digests of what it is made of and of its content."""

    code_version: str
    made_of: str
    content: str


Corpora = Mapping[str, Mapping[str, Kept]]
"""What is kept, by corpus and stage."""


def read(file: Path = FILE) -> dict[str, dict[str, Kept]]:
    """What is kept; nothing if there is no file yet."""
    if not file.exists():
        return {}
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {corpus: {name: Kept(**kept) for name, kept in stages.items()} for corpus, stages in found.items()}


def write(found: Corpora, file: Path = FILE) -> None:
    """Keep what was found, a line for each stage."""
    plain = {corpus: {name: asdict(kept) for name, kept in stages.items()} for corpus, stages in found.items()}
    text = yaml.safe_dump(plain, sort_keys=False, width=1000, default_flow_style=None)
    file.write_text(_HEAD + text, encoding="utf-8")


def unraised(corpus: str, kept: Mapping[str, Kept], found: Mapping[str, Kept]) -> list[str]:
    """A sentence for each stage that made other content of the same, and has the code version that it had."""
    return [
        f"{name} makes other content of the same input than it did (corpus {corpus}), and its code_version is still "
        f"{now.code_version!r}. Partitions that are built already would keep the old content: raise the code_version "
        f"of the stage if the change is meant, then run {AGAIN}"
        for name, now in found.items()
        if (was := kept.get(name)) and was.content != now.content
        if (was.code_version, was.made_of) == (now.code_version, now.made_of)
    ]


def outdated(corpus: str, kept: Mapping[str, Kept], found: Mapping[str, Kept]) -> list[str]:
    """A sentence for each stage whose digests must be written again."""
    said = [f"{name} is in {FILE.name}, and not in corpus {corpus} any more" for name in kept if name not in found]
    for name, now in found.items():
        if (was := kept.get(name)) is None:
            said.append(f"{name} of corpus {corpus} is not in {FILE.name}")
        elif was.code_version != now.code_version:
            said.append(f"{name} has code_version {now.code_version!r}, and {was.code_version!r} in {FILE.name}")
        elif was.made_of != now.made_of:
            said.append(f"{name} of corpus {corpus} reads other content or has other parameters than in {FILE.name}")
    return [f"{words}; run {AGAIN}" for words in said]
