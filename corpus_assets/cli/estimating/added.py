"""`corpus estimate --add`: what one more source costs a corpus that is built."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.estimate.adding.run import Cost, run_added
from corpus_assets.numbers import amount, duration, size


def run(config: Path | None, changes: Sequence[str], given: str, seconds: float, *, as_json: bool) -> None:
    """Estimates and prints."""

    def say(what: str) -> None:
        if not as_json:
            print_line(errors(), what)

    found = run_added(config, changes, given, seconds, say)
    if as_json:
        print_json(_as_json(found))
    else:
        _show(output(), found)


def _as_json(found: Cost) -> dict[str, Any]:
    copies = found.copies
    return {
        "source": dict(found.section),
        "files": found.files,
        "raw_bytes": found.raw,
        "documents": round(found.documents),
        "text_bytes": round(found.text),
        "copies": {
            "looked_up": copies.looked_up,
            "equal": round(_share(copies.equal, copies.looked_up), 4),
            "near": round(_share(copies.near, copies.looked_up), 4),
            "of_each_other": round(found.among.expected, 4),
        },
        "kept": round(found.kept),
        "seconds": round(found.seconds[0], 2),
        "start_seconds": round(found.start, 2),
        "seconds_beside_a_partition": round(found.beside, 5),
        "seconds_range": [round(one, 2) for one in found.seconds[1:]],
        "workers": found.workers,
        "stages": [{key: _number(value) for key, value in asdict(one).items()} for one in found.stages],
        "share": round(found.share, 4),
        "lasted": round(found.lasted, 1),
    }


def _number(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _share(count: float, of: float) -> float:
    return count / of if of else 0.0


def _show(out: Console, found: Cost) -> None:
    out.print(_table(found))
    for line in _lines(found):
        print_line(out, line)
    print_line(out, "to add it, in `sources` of corpus.yaml:")
    for line in yaml.safe_dump([dict(found.section)], sort_keys=False, allow_unicode=True).splitlines():
        print_line(out, f"  {line}")


def _table(found: Cost) -> Table:
    table = Table("stage", "partitions", "new", "again", "perhaps", "seconds", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
        column.no_wrap = True
    for one in found.stages:
        counts = (f"{count:,}" if count else "" for count in (one.new, one.again, one.perhaps))
        table.add_row(one.asset, f"{one.partitions:,}", *counts, f"{one.seconds:,.1f}")
    return table


def _lines(found: Cost) -> Iterator[str]:
    name, copies = found.section["name"], found.copies
    yield (
        f"{name}: {amount(found.files, 'files')} ({size(found.raw)}), {found.documents:,.0f} documents, "
        f"{size(found.text)} of text"
    )
    there = _share(copies.all, copies.looked_up)
    yield (
        f"copies of what is there: {there:.1%} of the documents ({_share(copies.equal, copies.looked_up):.1%} equal, "
        f"{_share(copies.near, copies.looked_up):.1%} near), by {copies.looked_up:,} that were looked up"
    )
    among = found.among
    if among.most:
        yield (
            f"copies of each other: about {among.expected:.1%}, {among.least:.1%} at least and {among.most:.1%} at most"
        )
    yield f"kept: about {found.kept:,.0f} documents"
    expected, least, most = found.seconds
    span = f" ({duration(least)} to {duration(most)})" if most > least * 1.05 else ""
    yield f"time: about {duration(expected)}{span} with {amount(max(1, found.workers), 'workers')}"
    yield f"from a sample of {found.share:.2%} of the rows, in {duration(found.lasted)}; nothing was changed"
