"""`corpus verify`: compares the ledger with the files."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from corpus_assets.cli.console import FAILED, print_json
from corpus_assets.corpus import Corpus
from resources.formats.known import format_of
from resources.hashing import value_digest
from resources.ledger import FileRecord, Record, partition_name, record_path
from resources.storage.interface import Storage


@dataclass(frozen=True)
class Problem:
    """One file that does not match its record."""

    asset: str
    partition: str | None
    file: str
    problem: str


@dataclass
class Verification:
    """The number of files that were checked, and the bad ones."""

    checked: int = 0
    bad: list[Problem] = field(default_factory=list)


def run(config: Path | None, *, as_json: bool, deep: bool) -> int:
    """Verifies a corpus and prints the bad files; returns the exit code."""
    result = verify(Corpus.open(config), deep=deep)
    if as_json:
        print_json({"checked": result.checked, "bad": [problem.__dict__ for problem in result.bad]})
    else:
        out = Console()
        for problem in result.bad:
            where = partition_name(problem.asset, problem.partition)
            out.print(f"[red]bad[/red] {where}: {problem.file}: {problem.problem}", highlight=False)
        out.print(f"{result.checked:,} files checked, {len(result.bad):,} bad")
    return FAILED if result.bad else 0


def verify(corpus: Corpus, *, deep: bool) -> Verification:
    """Checks every file that a record names: that it exists, its size, and with `deep` its content."""
    result = Verification()
    sizes = {entry.path: entry.bytes for entry in corpus.storage.entries("")}
    for asset in sorted(corpus.ledger.assets()):
        for key, record in sorted(corpus.ledger.records(asset).items(), key=lambda item: item[0] or ""):
            for file in record.files:
                result.checked += 1
                problem = _presence(file, sizes) or (_content(corpus.storage, file) if deep else None)
                if problem:
                    result.bad.append(Problem(asset, key, file.path, problem))
            result.bad += _counters(record) if deep else ()
    damaged = corpus.ledger.unreadable.items()
    result.bad += [Problem("ledger", None, path, f"damaged record: {why}") for path, why in damaged]
    return result


def _presence(file: FileRecord, sizes: dict[str, int]) -> str | None:
    if file.path not in sizes:
        return "missing"
    if sizes[file.path] != file.bytes:
        return f"has {sizes[file.path]} bytes, its record says {file.bytes}"
    return None


def _content(storage: Storage, file: FileRecord) -> str | None:
    try:
        found = format_of(file.path).digest(storage.open, file.path)
    except Exception as error:  # libraries raise almost anything over a damaged file
        return f"cannot be read: {type(error).__name__}: {error}"
    return None if found == file.digest else f"content digest is {found}, its record says {file.digest}"


def _counters(record: Record) -> Iterator[Problem]:
    """Yields the counters of a record that are not those that were committed."""
    for name, value in record.counters.items():
        if (found := value_digest(value)) != record.segments.get(name):
            problem = f"counters {name!r} have digest {found}, the record says {record.segments.get(name)}"
            yield Problem(record.asset, record.partition, record_path(record.asset, record.partition), problem)
