"""What a person should know of the rows of a dataset, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.config.datasets.options import DatasetSection
from corpus_assets.tokenize.encode.attempts import slower_notes
from corpus_assets.tokenize.modes.chat.chat import OWN_TEXTS, SILENT
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.raw_places.files import printable
from resources.stage.partition import Partition

_SHOWN_KEYS = 8
_SECOND_END = "second_end"
"""In a record: the end-of-text token that the tokenizer puts after every text, beside that of the rows."""
_WITH_MARKS = ("lm", "lm_vsl", "summarization", "summarization_vsl")
"""The modes whose texts have the ids that the tokenizer puts around a text; `fim` too if it rearranges rows."""
MUCH = 0.1  # share of discarded documents from which on a note is given


def second_end(tokenizer: Tokenizer, section: DatasetSection) -> dict[str, str]:
    """Returns what a record says if the tokenizer puts an end-of-text token after every text, as rows do."""
    mode, end = getattr(section, "mode", ""), tokenizer.eos_id
    if end is None or not (mode in _WITH_MARKS or getattr(section, "fim_level", "") == "row"):
        return {}
    ends = tokenizer.encode_batch(["a"]).ids[-1:].tolist() == [end]
    return {_SECOND_END: tokenizer.decode([end])} if ends else {}


def row_notes(partitions: Sequence[Partition], _: Mapping[str, Any], dataset: str) -> Iterator[str]:
    """Yields sentences on keys that nothing read, answers learned apart, and a fast library that gave other ids."""
    keys = Counter[str]()
    for partition in partitions:
        keys.update(partition.record.statistics.get("unread_keys", {}))
    if own := sum(partition.record.statistics.get(OWN_TEXTS, 0) for partition in partitions):
        changed = f"answers that the template writes otherwise once later turns follow: {own:,}"
        yield f"dataset {dataset}: {changed}; each is learned in a separate copy of its conversation"
    if silent := sum(partition.record.statistics.get(SILENT, 0) for partition in partitions):
        why = "empty, tags of reasoning alone, or left out by the template"
        yield f"dataset {dataset}: nothing is learned of {silent:,} answers that have no text ({why})"
    if ends := {end for partition in partitions if (end := partition.record.statistics.get(_SECOND_END))}:
        yield (
            f"dataset {dataset}: its texts end with {min(ends)} twice, since the tokenizer puts it after each text and "
            "so do rows; one is left without `add_eos_token` in tokenizer_config.json, or without it in the "
            "`post_processor` of tokenizer.json"
        )
    yield from slower_notes(partitions, f"dataset {dataset}")
    if keys:
        named = ", ".join(f"{printable(key)} ({count:,})" for key, count in keys.most_common(_SHOWN_KEYS))
        more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
        yield f"dataset {dataset}: nothing reads these keys of its rows (number of rows): {named}{more}"


def discarded_notes(partitions: Sequence[Partition], _: Mapping[str, Any], dataset: str) -> Iterator[str]:
    """Yields a sentence if nothing was made of a dataset, or much was discarded, with the reasons."""
    for partition in partitions:
        numbers = partition.record.statistics
        found, rows, seen = Counter(numbers.get("discarded", {})), numbers["rows_out"], numbers["documents"]
        if not rows or found.total() > MUCH * seen:
            why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.items())) or "nothing to read"
            yield f"dataset {dataset}: {rows:,} rows; {found.total():,} of {seen:,} documents discarded ({why})"
