"""Command lines of the Dolma toolkit as configurations."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpus_assets.importer.dolma.interpolations import filled_in
from corpus_assets.importer.draft import Draft
from corpus_assets.importer.reading import read_mapping
from corpus_assets.importer.shell.calls import calls
from corpus_assets.importer.shell.options import Options

_NGRAMS = "dedupe.paragraphs.by_ngram"
_SWITCHES = (
    *("dryrun", "debug", "ignore_existing", "skip_on_failure", "is_s3_volume", "shuffle", "sample_ring_prop"),
    *("profile.enable", "dedupe.skip_empty", "dedupe.file_partition", "bloom_filter.read_only"),
    *(f"{_NGRAMS}.skip_short_paragraphs", "tokenizer.segment_before_tokenization", "tokenizer.fast"),
    "tokenizer.encode_special_tokens",
)
_NUMBERS = (
    *("processes", "seed", "batch_size", "ring_size", "files_per_process", "max_size", "dedupe.min_length"),
    *("dedupe.min_words", "dedupe.num_partitions", "dedupe.partition_index", "bloom_filter.size_in_bytes"),
    *("bloom_filter.estimated_doc_count", "bloom_filter.desired_false_positive_rate", f"{_NGRAMS}.ngram_length"),
    *(f"{_NGRAMS}.stride", f"{_NGRAMS}.overlap_threshold", "tokenizer.bos_token_id", "tokenizer.eos_token_id"),
    *("tokenizer.pad_token_id", "profile.steps", "profile.lines"),
)
_OPTIONS = Options(("command",), _SWITCHES, ("documents", "taggers", "tagger_modules"), {"c": "config"})
KINDS = {"tag": "taggers", "dedupe": "dedupe", "mix": "streams", "tokens": "tokenizer"}
"""The key that says the kind of a configuration, by the command."""
OTHERS = {
    "stat": "records of attributes have histograms (corpus docs statistics)",
    "list": "`corpus docs attributes` lists all taggers",
    "warc": "a source with `format: warc` and an `extractor` reads web archives (corpus docs inputs)",
}


class CommandLine(NamedTuple):
    """A command with its configuration; title: file and line."""

    title: Path
    kind: str
    values: dict[str, Any]


def command_lines(draft: Draft, file: Path) -> Iterator[CommandLine]:
    """Yields the commands of a shell file that have a counterpart, with the values of their configuration files."""
    for call in calls(draft, [file], {"dolma": _OPTIONS}, "the Dolma toolkit"):
        given = dict(call.given.values)
        command = str(given.pop("command", ""))
        title = Path(f"{file}: {call.given.where.removesuffix('dolma ').removesuffix(': ')}")
        if command not in KINDS:
            draft.leave(f"{call.given.where}{command}".strip(), OTHERS.get(command, "no command that is known here"))
            continue
        values: dict[str, Any] = {}
        if "config" in given:
            path = str(given.pop("config"))
            found = next((one for one in (Path(path), file.parent / path) if one.is_file()), None)
            if found is None:
                draft.leave(f"{call.given.where}-c", f"there is no file {path}; import it beside this one")
                continue
            values = filled_in(draft, read_mapping(found, f"a configuration of `dolma {command}`"))
        for key, value in given.items():
            _put(values, key, _typed(key, value))
        values.setdefault(KINDS[command], {} if command in ("dedupe", "tokens") else [])
        yield CommandLine(title, KINDS[command], values)


def _typed(key: str, value: Any) -> Any:
    if key in _NUMBERS and isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    if key in _SWITCHES and isinstance(value, str):
        return value.lower() == "true"
    return value


def _put(values: dict[str, Any], key: str, value: Any) -> None:
    """Sets a value below a key with dots."""
    first, dot, rest = key.partition(".")
    if not dot:
        values[first] = value
        return
    inside = values.get(first)
    values[first] = dict(inside) if isinstance(inside, Mapping) else {}
    _put(values[first], rest, value)
