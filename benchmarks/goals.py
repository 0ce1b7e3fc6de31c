"""The goals of figures, and whether those on the page reach them: the table at the head of `docs/benchmarks.md`."""

import re
from typing import NamedTuple


class Goal(NamedTuple):
    """A bound of a figure.

    script: of benchmarks/, whose section of the page has the figure.
    figure: its name there; `row, column` in a table of several columns.
    more: the figure is to be at least `bound`; else at most.
    words: what it is, if that is needed.
    """

    script: str
    figure: str
    bound: float
    more: bool = False
    words: str = ""

    def met(self, value: float) -> bool:
        return value >= self.bound if self.more else value <= self.bound


GOALS = (
    Goal("stages", "pipeline, MB per CPU-second", 40, True, "raw text to clean train"),
    Goal("stages", "normalized_documents, MB per CPU-second", 140, True),
    Goal("stages", "minhashes, MB per CPU-second", 200, True, "with reading"),
    Goal("stages", "mix_and_splits, ms per MB", 8),
    Goal("stages", "train_tokens, MB per CPU-second", 90, True, "text to packed HDF5 with shuffle"),
    Goal("real", "mb per cpu s", 10.7, True, "all stages and outputs; 3.2 GB in 300 CPU-seconds"),
    Goal("real", "memory share", 1, False, "peak memory of all processes over engine.memory"),
    Goal("real", "largest growth of a stage", 1, False, "over 1 is slower than linear"),
    Goal("taggers", "real five mb per cpu s", 25, True, "Gopher, C4, PII, length and CLD2 in one entry, real text"),
    Goal("taggers", "five together mb per cpu s", 30, True, "Gopher, C4, PII, length and repetitions"),
    Goal("taggers", "ratio c4 v2 vs dolma", 20, True),
    Goal("taggers", "ratio pii regex with counts fast v2 vs dolma", 15, True),
    *(
        Goal("contamination_quality", f"{name} {kind}, {column}", 0.97, True, "recall")
        for column in ("default", "questions only")
        for name in ("gsm8k", "humaneval")
        for kind in ("exact", "re-cased", "re-spaced", "cut to 60 %")
    ),
    Goal("contamination_quality", "precision, default", 1, True, "25,000 documents without a plant"),
    Goal("contamination_quality", "precision, questions only", 1, True),
    Goal("warc", "warc over extractor", 1.1, False, "CPU of WARC to documents over that of the extractor alone"),
    Goal("web_text", "combined, F1", 0.97, True),
    Goal("web_text", "combined, F1 held out", 0.97, True, "the half of the pages that no rule was chosen on"),
    Goal("web_text", "combined, MB of HTML per CPU-second", 2, True),
    Goal("web_text", "combined as Markdown, F1", 0.97, True),
    Goal("web_text", "combined as Markdown, code kept of python3.11-doc", 0.99, True),
    Goal("web_text", "combined as Markdown, code kept of rust-doc", 0.99, True),
    Goal("tokenize", "text to hdf5 mb per cpu s", 90, True, "rows in input order"),
    Goal("tokenize", "code to shuffled hdf5 mb per cpu s", 40, True, "documents to shuffled rows, two stages"),
    Goal("dedup_quality", "default recall", 0.995, True),
    Goal("dedup_quality", "default precision", 0.99, True),
    Goal("dedup_quality", "removed below threshold", 0.005),
    Goal("dedup_quality", "removed below threshold real", 0.005, False, "in a build of real texts, which have chains"),
    Goal("dedup_quality", "two sided build ratio", 1.3, False, "raw text to duplicates, over sketches alone"),
    Goal("dedup_peers", "slope over datatrove", 80, True, "near-duplicates of real code"),
    Goal("dedup_peers", "slope over rensa", 12, True, "near-duplicates of real code"),
    Goal("dedup_peers", "cpu s of real code", 4, False, "whole process, 57 MB"),
    Goal("substrings", "own mb per cpu s", 5, True, "60 MB of real code, with reading"),
    Goal("substrings_memory", "slope mb per cpu s", 5, True, "from one to three gigabytes"),
    Goal("substrings_memory", "peak rss mb of 100 gb", 8590, False, "8 GiB; extrapolated"),
    Goal("chat", "mb per cpu s", 20, True, "conversations of four turns of 1,000 characters, with masks"),
    Goal("small_datasets", "seconds", 20, False, "30 chat datasets of one to three rows"),
    Goal("small_datasets", "large seconds", 20, False, "the same with tokenizers of 50,000 tokens"),
    Goal("one_file", "cpu s", 1.5, False, "all processes of a build of 20 documents"),
    Goal("demo", "fresh to first seconds", 1.2, False, "first build on a fresh machine over a warm one"),
    Goal("demo", "fresh build seconds", 40, False, "packages aside"),
    Goal("demo", "sample s", 5, False, "the sample corpus is made"),
    Goal("plan", "s3 plan 10000 shards again s", 10, False, "in an object store on loopback"),
    Goal("sensor", "unchanged cpu s 10000", 5, False, "a tick over 10,000 shards when nothing changed"),
    Goal("stores", "s3 cpu ratio", 1.3, False, "CPU of a build on S3 over a local one"),
    Goal("driver", "driver cpu ms per partition", 8),
    Goal("driver", "build fixed cpu s", 4),
    Goal("driver", "worker busy share", 0.9, True),
    Goal("driver", "second build s 10000", 6),
    Goal("driver", "one change s 10000", 20),
    Goal("driver", "one change share", 0.05),
    Goal("driver", "driver memory mb", 1000),
    Goal("driver", "two workers speedup", 1.7, True),
    Goal(
        "month", "twice percent", 0.5, False, "CPU time spent twice or lost, a month of 10 TB at 4,096 cores, simulated"
    ),
    Goal("month", "100tb twice percent", 0.5, False, "the same, a week of 100 TB"),
    Goal("month", "differ", 0, False, "partitions that differ from a build without faults, 10 TB"),
    Goal("month", "100tb differ", 0, False, "the same, 100 TB"),
    Goal("month", "million plan s", 60, False, "a plan of a million partitions"),
    Goal("month", "million first plan s", 60, False, "the same, without snapshots"),
    Goal("month", "million plan mb", 8_000),
    Goal("engines", "local efficiency", 0.85, True, "two workers"),
    Goal("engines", "ray efficiency", 0.85, True, "two workers"),
    Goal("engines", "ray overhead ratio", 3, False, "an empty partition on Ray over a local one"),
    Goal("event_log", "postgres ms per event", 8, False, "no more than the driver may take for a partition"),
    Goal("materialize_all", "materialize all new s", 60, False, "the waits of Dagster's daemon aside"),
)

QUICK = "Measured with `--quick`"
"""The text by which a section of small inputs is recognized."""

_SCRIPT = re.compile(r"`python -m benchmarks\.(\w+)`")


def section(page: str) -> str:
    """The goals with the figures of a page."""
    parts = {found.group(1): part for part in page.split("\n## ")[1:] if (found := _SCRIPT.search(part)) is not None}
    rows = [_row(goal, parts.get(goal.script, "")) for goal in GOALS]
    head = "Goals for figures of the sections below, and whether the figures reach them."
    return "\n".join(
        ["## Goals", "", head, "", "| figure | of | goal | measured | |", "|---|---|---:|---:|---|", *rows, ""]
    )


def _row(goal: Goal, part: str) -> str:
    value = _figures(part).get(goal.figure)
    shown = "" if value is None else f"{value:,}"
    verdict = _verdict(goal, value) + (" on small inputs (`--quick`)" if value is not None and QUICK in part else "")
    words = f"{goal.figure} ({goal.words})" if goal.words else goal.figure
    bound = f"{'at least' if goal.more else 'at most'} {goal.bound:,}"
    return f"| {words} | {goal.script} | {bound} | {shown} | {verdict} |"


def _verdict(goal: Goal, value: float | None) -> str:
    if value is None:
        return "not measured"
    return "met" if goal.met(value) else "**missed**"


def _figures(part: str) -> dict[str, float]:
    """The numbers in the tables of a section, by row; by `row, column` where there are several columns."""
    found: dict[str, float] = {}
    columns: list[str] = []
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        else:
            for column, cell in zip(columns[1:], cells[1:], strict=False):
                if (value := _number(cell)) is not None:
                    found[cells[0] if len(columns) == 2 else f"{cells[0]}, {column}"] = value
    return found


def _number(cell: str) -> float | None:
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value.is_integer() and "." not in cell else value
