"""The asset `origins`: the counts of all chunks added up, the largest of each source, and a table of all domains."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from corpus_assets.origins.counting import YEARS
from corpus_assets.origins.counts import Largest, Row, line_of, merged
from resources.stage.task import Task

COUNTS, FOUND = "origin_counts", "origins.json"
Numbers = tuple[int, int, int]


def origins(task: Task, *, has_tokens: bool) -> None:
    """Adds up the counts of all chunks: the largest of each source, and a table of all domains."""
    chunks, most = task.inputs(COUNTS), task["origins.most"]
    sources: dict[str, _Source] = {}
    years: dict[str, dict[str, Counter[str]]] = {}
    for chunk in chunks:
        for source, held in chunk.counters(YEARS).items():
            for year, numbers in held.items():
                years.setdefault(source, {}).setdefault(year, Counter()).update(numbers)
    rows = 0
    with task.lines("origins/domains.jsonl") as out:
        for row in merged([chunk.lines() for chunk in chunks], task.scratch):
            rows += 1
            source = sources.setdefault(row.source, _Source(most))
            if (domain := source.add(row)) is not None:
                out.write(line_of(domain))
        for _, source in sorted(sources.items()):
            if (domain := source.finish()) is not None:
                out.write(line_of(domain))
    found = {
        name: source.found(years.get(name, {}), 2 if has_tokens else 1) for name, source in sorted(sources.items())
    }
    task.save_json(f"origins/{FOUND}", {"tokens": has_tokens, "sources": found}, rows=len(found))
    task.count(rows_in=rows, rows_out=out.written.rows, sources=len(found))


class _Source:
    """The counts of one source, whose rows come in the order of domains and hosts."""

    def __init__(self, most: int) -> None:
        self._domains, self._hosts, self._most = Largest(most), Largest(most), most
        self._suffixes: dict[str, Numbers] = {}
        self._all: Numbers = (0, 0, 0)
        self._without: Numbers = (0, 0, 0)
        self._last: Row | None = None

    def add(self, row: Row) -> Row | None:
        """Adds a row; returns the sums of the domain before it, if it is complete."""
        numbers = (row.documents, row.text_bytes, row.tokens)
        self._all = _plus(self._all, numbers)
        if not row.host:
            self._without = _plus(self._without, numbers)
            return None
        self._hosts.add(row.host, numbers)
        if self._last is not None and self._last.domain == row.domain:
            self._last = Row(row.source, row.domain, "", *_plus(self._last[3:], numbers))
            return None
        done, self._last = self.finish(), Row(row.source, row.domain, "", *numbers)
        return done

    def finish(self) -> Row | None:
        """Returns the sums of the last domain, if there is one."""
        done, self._last = self._last, None
        if done is not None:
            self._domains.add(done.domain, done[3:])
            suffix = "" if host_is_number(done.domain) else done.domain.partition(".")[2]
            self._suffixes[suffix] = _plus(self._suffixes.get(suffix, (0, 0, 0)), done[3:])
        return done

    def found(self, years: Mapping[str, Mapping[str, int]], measure: int) -> dict[str, Any]:
        """Returns what is known of the source. measure: the number by which the largest are chosen."""
        ends = Largest(self._most)
        for suffix, numbers in self._suffixes.items():
            ends.add(suffix, numbers)
        return {
            **_named(self._all),
            "without_url": _named(self._without),
            **{
                key: {
                    "different": held.different,
                    "largest": [{"name": name, **_named(numbers)} for name, *numbers in held.top(measure)],
                    "most_documents": [{"name": name, **_named(numbers)} for name, *numbers in held.top(0)],
                }
                for key, held in (("domains", self._domains), ("hosts", self._hosts), ("suffixes", ends))
            },
            "years": {year: dict(numbers) for year, numbers in sorted(years.items())},
        }


def host_is_number(domain: str) -> bool:
    """Returns whether a domain is an IP address."""
    return domain.startswith("[") or domain.rpartition(".")[2].isdecimal()


def _plus(one: Sequence[int], other: Sequence[int]) -> Numbers:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _named(numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(("documents", "text_bytes", "tokens"), numbers, strict=True))
