"""Report on deduplication: the worst clusters that the guard examined, and the loss of each source."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.guard import Examined, Finding
from resources.documents.names import shown_id

WORST = 20
MIN_JUDGED = 20
"""Fewest documents of a source whose loss is judged: of fewer, a single document is more than 5 %, and a handful of
documents may all be copies of others.
"""

UNSUSPECTED = "not suspicious"
_SAMPLES = 3
_SAMPLE_CHARACTERS = 200
_CELL_CHARACTERS = 48
_SOURCES_SHOWN = 30
_MAX_BYTES = 20_000
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|&!#~$()])")

Row = dict[str, Any]
Place = tuple[str, int]
"""Shard key and row of a document."""


class Worst:
    """The worst of the clusters added: most documents unlike the kept one first, then the largest, then the first.

    Holds no more than `limit` clusters of a few numbers each; `examined` counts all by what was done with them. An
    unexamined cluster counts as if all its documents were unlike the kept one. `moved` counts the documents that left
    the cluster of a document they are unlike.
    """

    def __init__(self, limit: int = WORST) -> None:
        self._limit = limit
        self._rows: list[Row] = []
        self.moved = 0
        self.examined = Counter({"whole": 0, "split": 0, "not examined": 0})

    def add(self, finding: Finding) -> None:
        """Adds one suspicious cluster."""
        row = _row(finding.kept, finding.size, finding.members, finding.examined)
        if finding.examined is not None:
            self.moved += int((finding.examined.groups > 0).sum())
        self.examined["not examined" if finding.examined is None else "split" if row["groups"] > 1 else "whole"] += 1
        self._put(row)

    def _put(self, row: Row) -> None:
        self._rows.append(row)
        self._rows.sort(key=lambda row: (-row["unlike"], -row["size"], row["cluster"]))
        del self._rows[self._limit :]

    def add_unsuspected(self, kept: int, size: int, members: NDArray[np.unsignedinteger[Any]]) -> None:
        """Adds a large unsuspicious cluster with some of its members; it does not count as examined."""
        samples = [{"document": number, "resemblance": None} for number in dict.fromkeys([kept, *members.tolist()])]
        figures = {"unlike": 0, "lowest": None, "density": None, "core": None, "groups": 1}
        row = {"cluster": int(members[0]), "size": size, "kept": kept, **figures}
        if all(kept != known["kept"] for known in self._rows):
            self._put(row | {"done": UNSUSPECTED, "samples": samples[:_SAMPLES]})

    def state(self) -> Row:
        """Returns all that is held, ready for JSON."""
        return {"rows": self._rows, "moved": self.moved, "examined": dict(self.examined)}

    def merge(self, state: Row) -> None:
        """Adds what is held of other clusters."""
        self.moved += state["moved"]
        self.examined.update(state["examined"])
        for row in state["rows"]:
            self._put(row)

    def documents(self) -> list[int]:
        """Returns the documents that `report` needs to name, ascending."""
        return sorted({number for row in self._rows for number in (row["kept"], *_numbers(row))})

    def report(self, named: Callable[[int], Mapping[str, Any]], sources: Mapping[str, Mapping[str, int]]) -> Row:
        """Returns the clusters and the `losses` of the sources, ready for JSON.

        `named` gives `source`, `id`, `shard` and `row` of the `documents`.
        """
        clusters = [
            row | {"kept": dict(named(row["kept"])), "samples": [s | named(s["document"]) for s in row["samples"]]}
            for row in self._rows
        ]
        return {"examined": dict(self.examined), "clusters": clusters, "sources": dict(sources)}


def _numbers(row: Row) -> list[int]:
    return [sample["document"] for sample in row["samples"]]


def _row(kept: int, size: int, members: NDArray[np.unsignedinteger[Any]], examined: Examined | None) -> Row:
    row: Row = {"cluster": int(members[0]), "size": size, "kept": int(kept)}
    if examined is None:
        numbers = dict.fromkeys([int(kept), int(members[0]), int(members[-1])])
        samples: list[Row] = [{"document": number, "resemblance": None} for number in numbers]
        figures: Row = {"unlike": size, "lowest": None, "density": None, "core": None, "groups": 1}
        return row | figures | {"done": "not examined: too large", "samples": samples}
    by_resemblance = np.argsort(examined.resemblances, kind="stable")
    chosen = [np.searchsorted(members, kept), by_resemblance[0], by_resemblance[len(members) // 2]]
    samples = [
        {"document": int(members[place]), "resemblance": round(float(examined.resemblances[place]), 4)}
        for place in dict.fromkeys(map(int, chosen))
    ]
    groups = len(examined.kept)
    figures = {
        "unlike": examined.unlike,
        "lowest": round(float(examined.resemblances.min()), 4),
        "density": float(f"{examined.density:.4g}"),
        "core": examined.core,
        "groups": groups,
    }
    return row | figures | {"done": "whole" if groups == 1 else f"split into {groups}", "samples": samples}


def losses(removed: Mapping[str, int], documents: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Returns `documents` and `removed` of each source, in the order of `documents`.

    `ValueError` if a source loses more than it has.
    """
    for source, count in removed.items():
        if not 0 <= count <= documents.get(source, 0):
            raise ValueError(f"source {source} has {documents.get(source, 0)} documents and loses {count}")
    return {source: {"documents": total, "removed": removed.get(source, 0)} for source, total in documents.items()}


def broken_floors(sources: Mapping[str, Mapping[str, int]], max_loss: float) -> list[str]:
    """Returns a message for each source that loses a larger share of its documents than `max_loss`, 0 to 1.

    `sources` are the `losses`; a source of fewer than `MIN_JUDGED` documents is not judged.
    """
    return [
        f"source {source} loses {_percent(_share(loss))} of its documents "
        f"({loss['removed']:,} of {loss['documents']:,}); dedup.max_loss allows {_percent(max_loss)}"
        for source, loss in sources.items()
        if loss["documents"] >= MIN_JUDGED and _share(loss) > max_loss
    ]


def _share(loss: Mapping[str, int]) -> float:
    return loss["removed"] / max(loss["documents"], 1)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def sampled(report: Row) -> set[Place]:
    """Returns the shard and row of the documents whose texts `render` can show."""
    return {(sample["shard"], sample["row"]) for row in report["clusters"] for sample in row["samples"]}


def render(report: Row, texts: Mapping[Place, str]) -> str:
    """Returns the report as Markdown of at most 20,000 bytes, with the beginnings of the given texts.

    Ids and texts are escaped, and characters that do not print are replaced. Texts that do not fit are left out and
    counted; those of the worst clusters come first.
    """
    sections = [_clusters_table(report), _sources_table(report["sources"])]
    room = _MAX_BYTES - sum(len(section.encode()) for section in sections) - 200
    left_out = 0
    for row in report["clusters"]:
        for sample in row["samples"]:
            if (text := texts.get((sample["shard"], sample["row"]))) is None:
                continue
            shown = _sample(row, sample, text)
            size = len(shown.encode())
            left_out += left_out > 0 or size > room
            if not left_out:
                sections.append(shown)
                room -= size
    if left_out:
        sections.append(f"{left_out} more texts are left out here.\n")
    return "\n".join(section for section in sections if section)


def _clusters_table(report: Row) -> str:
    done = report["examined"]
    if not report["clusters"]:
        return "No clusters.\n"
    said = ", ".join(f"{count:,} {what}" for what, count in done.items() if count) or "none was suspicious"
    rows = (
        (
            f"{row['size']:,}",
            *(_cell(row["kept"][key]) for key in ("source", "id")),
            f"{row['unlike']:,}" if row["lowest"] is not None or row["done"] == UNSUSPECTED else "?",
            *("?" if row[key] is None else f"{row[key]:.4g}" for key in ("lowest", "density", "core")),
            row["done"],
        )
        for row in report["clusters"]
    )
    heads = ("documents", "source kept", "id kept", "unlike it", "lowest resemblance", "density", "core", "done")
    title = f"### Worst clusters\n\nExamined {sum(done.values()):,}: {said}. The worst {len(report['clusters'])}:\n\n"
    return title + _table(heads, rows)


def _sources_table(sources: Mapping[str, Mapping[str, int]]) -> str:
    if not sources:
        return ""
    worst = sorted(sources.items(), key=lambda item: (-_share(item[1]), item[0]))
    rows = (
        (_cell(source), f"{loss['documents']:,}", f"{loss['removed']:,}", _percent(_share(loss)))
        for source, loss in worst[:_SOURCES_SHOWN]
    )
    more = f"\nand {len(worst) - _SOURCES_SHOWN} more sources\n" if len(worst) > _SOURCES_SHOWN else ""
    return "### Losses\n\n" + _table(("source", "documents", "removed", "share"), rows) + more


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sample(row: Row, sample: Row, text: str) -> str:
    kept = (sample["shard"], sample["row"]) == (row["kept"]["shard"], row["kept"]["row"])
    role = "kept" if kept else "removed"
    if not kept and sample["resemblance"] is not None:
        role = f"resemblance {sample['resemblance']:.2f}"
    start = _printable(text[:_SAMPLE_CHARACTERS])
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", start)), default=0))
    title = f"Of {row['size']:,}: {_cell(sample['source'])} {_cell(sample['id'])} ({role})"
    return f"{title}\n\n{fence}\n{start}\n{fence}\n"


def _cell(text: str) -> str:
    """Returns a name as one line that contains no markup."""
    return _MARKUP.sub(r"\\\1", shown_id(text, _CELL_CHARACTERS))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)
