"""The numbers of a partition or a whole asset under names that a person understands, with units; and one line of words.

Numbers stay numbers, so that the web UI can plot them: bytes in MB, shares in percent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from corpus_assets.numbers import count, share, size
from resources.stage.declaration import Partitioning, Stage

Numbers = Mapping[str, Any]
"""Statistics and counters of one record (`Record.numbers`), or their sums over many."""

Figure = int | float | str

_IN_WORDS = {
    "bytes": "raw file (MB)",
    "raw_bytes": "raw files (MB)",
    "text_bytes": "text (MB)",
    "documents": "different documents",
    "repeats": "further uses by epochs",
    "take_part": "documents compared",
    "short": "short documents",
    "duplicates": "duplicates",
    "pairs": "similar pairs",
    "not_similar": "pairs not similar enough",
    "compared_by_text": "pairs compared by their texts",
    "largest": "documents in the largest cluster",
    "found_again": "pairs found in other bands too",
    "documents_kept_by_splits": "documents kept by splitting clusters",
    "kept_documents_joined": "kept documents of split clusters that are similar to another",
    "unexamined_clusters": "clusters not examined",
    "documents_truncated": "documents cut short",
    "tokens_dropped": "tokens cut off",
    "truncated_tokens": "tokens in no row",
    "padded_tokens": "padding (tokens)",
    "most_documents": "documents of the most frequent n-gram",
    "ngrams": "n-grams",
    "items_ngrams": "items looked for by n-grams",
    "items_whole": "items looked for as a whole",
    "items_too_short": "items too short to look for",
    "items_template": "items that are nothing but a template",
    "changed": "documents changed",
    "documents_touched": "documents with text of benchmarks",
    "documents_with_hits": "documents with n-grams of benchmarks",
    "eos_id": "end-of-text id",
    "pad_id": "padding id",
}
COMPILED = "compile_seconds"
_ELSEWHERE = frozenset(
    {
        *(
            "rows_in",
            "rows_out",
            "dropped",
            "dropped_examples",
            "dropped_rows",
            "discarded",
            "seconds",
            "cpu_seconds",
            "modified",
            "page",
        ),
        *("tokens", "fill", "sequences_per_row", "h5_dataset_stats", "counters", "places", "totals", "by_source"),
    }
)
"""Numbers that are shown in another way, or that are positions in files."""
_ROWS_AGAIN = frozenset({"pairs", "exact_duplicates"})
"""Numbers that equal `rows_out` wherever that is counted."""
_ALSO = ("short", "duplicates", "changed", "documents_with_hits", "documents_touched")
"""Numbers of findings in documents that a stage only examines."""

_BYTES = "bytes"
_SHARE = "share"
_TOKENIZER = "tokenizer"
DROPPED = "dropped: "
ROW_COUNT = "dagster/row_count"
_SHORTEST = 0.001  # Seconds below which nothing is measured.
_MEASURABLE = 0.05  # Seconds from which on a speed says something.
_SHOWN_REASONS = 3


@dataclass(frozen=True)
class Tokens:
    """The tokens of a dataset: rows, positions in them, and how many of these are in the loss.

    tokens: positions that are not padding; None where the files cannot tell: padding and end of text may be one id.
    """

    rows: int
    positions: int
    loss: int
    tokens: int | None

    @classmethod
    def of(cls, numbers: Numbers) -> "Tokens | None":
        """Returns the tokens that the numbers of an asset with HDF5 files tell of; None for other assets."""
        found = numbers.get("h5_dataset_stats")
        if not found or not found.get("num_sequences"):
            return None
        rows, positions, loss = (found[name] for name in ("num_sequences", "num_tokens", "loss_valid_tokens"))
        return cls(rows, positions, loss, numbers.get("tokens"))

    def figures(self, numbers: Numbers) -> dict[str, Figure]:
        """Returns them under their names. numbers: may have the bytes of the texts that went in."""
        found: dict[str, Figure] = {}
        if self.tokens is not None:
            found = {"tokens": self.tokens, "padding (tokens)": self.positions - self.tokens}
            found["full (%)"] = round(100 * self.tokens / self.positions, 4)
        else:
            found["positions"] = self.positions
        found["tokens in the loss"] = self.loss
        if self.tokens and numbers.get("text_bytes"):
            found["bytes per token"] = round(numbers["text_bytes"] / self.tokens, 3)
        return {**found, "sequence length": self.positions // self.rows}


def figures(stage: Stage, numbers: Numbers, reasons: Iterable[str], *, whole: bool = False) -> dict[str, Figure]:
    """Returns the numbers of a partition, the same names for every partition of a stage, zeros included.

    reasons: all for which the stage may drop rows, each of which becomes a number. whole: whether the numbers are of
    the whole asset: Dagster has a place for its rows, and no plot of its partitions.
    """
    found = _rows(stage, numbers, list(reasons), ROW_COUNT if whole else None)
    tokens = Tokens.of(numbers)
    found |= tokens.figures(numbers) if tokens else {"tokens": numbers["tokens"]} if "tokens" in numbers else {}
    if not tokens and "fill" in numbers:
        found["full (%)"] = round(100 * numbers["fill"], 4)
    if numbers.get("sequences_per_row"):
        found["sequences per row"] = numbers["sequences_per_row"]
    found |= dict(_others(numbers))
    return found


def _rows(stage: Stage, numbers: Numbers, reasons: list[str], count_as: str | None) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    before, after = numbers.get("rows_in"), numbers.get("rows_out")
    both = before is not None and (bool(reasons) or stage.unit_in != stage.unit_out)
    if both and before is not None:
        found[f"{stage.unit_in} in"] = before
    if after is not None:
        found[count_as or (f"{stage.unit_out} out" if both else stage.unit_out)] = after
    if before is None:
        return found
    dropped = numbers.get("dropped", {})
    lost = [reason for reason in reasons if reason not in stage.moves]
    if len(lost) > 1:
        found[f"{stage.unit_in} dropped"] = sum(dropped.get(reason, 0) for reason in lost)
    counted = [reason for reason in lost if not count_as or dropped.get(reason)]
    found |= {f"{DROPPED}{plain(reason)}": dropped.get(reason, 0) for reason in counted}
    for reason, asset in stage.moves.items():
        found[f"went to {plain(asset)}"] = dropped.get(reason, 0)
    return found


def _others(numbers: Numbers) -> Iterator[tuple[str, Figure]]:
    """Yields the other numbers of a stage, also those of a user's own."""
    for name, value in numbers.items():
        again = name in _ROWS_AGAIN and numbers.get("rows_out") is not None
        if name in _ELSEWHERE or is_detail(name) or again or isinstance(value, bool):
            continue
        label = _IN_WORDS.get(name, plain(name))
        if isinstance(value, int | float) and name.rpartition("_")[2] == _BYTES:
            yield label.removesuffix(" (MB)").removesuffix(" bytes") + " (MB)", megabytes(value)
        elif isinstance(value, float) and name.rpartition("_")[2] == _SHARE:
            yield f"{label} (%)", round(100 * value, 4)
        elif isinstance(value, int | float | str):
            yield label, value


def is_detail(name: str) -> bool:
    """Returns whether a number is about how something was computed, not about the corpus."""
    return name.startswith(_TOKENIZER)


def details(numbers: Numbers) -> dict[str, Any]:
    """Returns numbers that only help when something is wrong."""
    return {
        name: value
        for name, value in numbers.items()
        if is_detail(name) or (isinstance(value, dict) and value and name not in _ELSEWHERE)
    }


def speed(numbers: Numbers) -> float | None:
    """Returns MB of text per second; None for a stage that counts no text."""
    if "text_bytes" not in numbers:
        return None
    return round(float(numbers["text_bytes"]) / 1e6 / max(_worked(numbers), _SHORTEST), 2)


def _worked(numbers: Numbers) -> float:
    """Returns the seconds that a partition took, without those in which it waited for kernels to be compiled."""
    return float(numbers.get("seconds", 0)) - float(numbers.get(COMPILED, 0))


def summary_line(stage: Stage, numbers: Numbers) -> str:
    """Returns one line: `2,008 documents, 1,563,851 tokens in 1,528 rows, 99.95 % full, 20 MB/s of text`."""
    rate = speed(numbers) if _worked(numbers) >= _MEASURABLE else None
    ways = (_tokens_in_words(stage, numbers), _rows_in_words(stage, numbers), _few(numbers))
    phrases = next(filter(None, map(list, ways)), [])
    return ", ".join([*phrases, *([f"{rate:.3g} MB/s of text"] if rate else [])])


def _tokens_in_words(stage: Stage, numbers: Numbers) -> Iterator[str]:
    before, after, tokens = numbers.get("rows_in"), numbers.get("rows_out"), Tokens.of(numbers)
    if tokens is None and "tokens" not in numbers:
        return
    if before is not None and (before != after or stage.unit_in != stage.unit_out):
        yield _amount(before, stage.unit_in)
    known = numbers.get("tokens")
    words = f"{count(tokens.loss)} tokens in the loss" if known is None and tokens else f"{count(known)} tokens"
    yield f"{words} in {_amount(after, stage.unit_out)}" if after is not None else words
    if tokens and tokens.tokens is not None:
        yield f"{share(tokens.tokens / tokens.positions)} full"


def _rows_in_words(stage: Stage, numbers: Numbers) -> Iterator[str]:
    before, after = numbers.get("rows_in"), numbers.get("rows_out")
    if after is None:
        return
    if before is None or (before == after and stage.unit_in == stage.unit_out):
        yield _amount(after, stage.unit_out)
        yield from (f"{count(numbers[name])} {_IN_WORDS.get(name, plain(name))}" for name in _ALSO if numbers.get(name))
        return
    dropped = numbers.get("dropped", {})
    lost = sorted((reason for reason in dropped if dropped[reason]), key=lambda reason: -dropped[reason])
    why = [_in_words(stage, reason, dropped[reason]) for reason in lost[:_SHOWN_REASONS]]
    why += [f"{len(lost) - len(why)} more reasons"] if len(lost) > len(why) else []
    whole = _amount(before, stage.unit_in)
    same = stage.unit_in == stage.unit_out
    kept = f"{count(after) if same else _amount(after, stage.unit_out)} of {whole}"
    yield f"{kept} ({', '.join(why)})" if why else kept
    if numbers.get("clusters"):
        yield _amount(numbers["clusters"], "clusters")


def _in_words(stage: Stage, reason: str, dropped: int) -> str:
    moved = stage.moves.get(reason)
    return f"{count(dropped)} went to {plain(moved)}" if moved else f"{count(dropped)} {plain(reason)}"


def _few(numbers: Numbers) -> Iterator[str]:
    """Yields the first numbers of a stage that counts no rows."""
    if "vocabulary" in numbers:
        yield f"vocabulary of {count(numbers['vocabulary'])} ids"
        return
    counts = ((name, value) for name, value in numbers.items() if isinstance(value, int) and name not in _ELSEWHERE)
    for name, value in islice(((n, v) for n, v in counts if not is_detail(n)), 2):
        if name.rpartition("_")[2] == _BYTES:
            yield size(value)
        else:
            yield _amount(value, _IN_WORDS.get(name, plain(name)))


def merged(stage: Stage, every: Iterable[Numbers]) -> dict[str, Any]:
    """Returns the sums of the numbers of many partitions, without those that cannot be added."""
    total: dict[str, Any] = {}
    for numbers in every:
        for name, value in numbers.items():
            if name in ("dropped", "h5_dataset_stats", "by_source"):
                _add(total.setdefault(name, {}), value)
            elif stage.partitioning is Partitioning.BAND and name == "rows_in":  # Each band reads all documents.
                total[name] = max(total.get(name, 0), value)
            elif _can_be_added(name, value):
                total[name] = total.get(name, 0) + value
    return total


def _add(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, Mapping):
            _add(total.setdefault(name, {}), value)
        elif isinstance(value, int):
            total[name] = total.get(name, 0) + value


def _can_be_added(name: str, value: Any) -> bool:
    kind = type(value)  # A flag is an int too.
    if kind is int or (kind is float and name in ("seconds", "cpu_seconds", COMPILED)):
        return not is_detail(name) and name not in ("largest", "most_documents", "modified")
    return False


def megabytes(value: float) -> float:
    """Returns bytes in MB, to four digits."""
    return float(f"{value / 1e6:.4g}")


def plain(name: str) -> str:
    """Returns a name in code as words; a dotted name, which is of the configuration, as it is."""
    return name if "." in name else name.replace("_", " ")


def _amount(number: int, unit: str) -> str:
    """Returns a number of things: `1 document`, `2,008 documents`."""
    return f"{count(number)} {unit.removesuffix('s') if number == 1 else unit}"
