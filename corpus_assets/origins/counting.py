"""The asset `origin_counts`: documents, bytes and tokens of one chunk of train by source, domain and host."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.export.encoding import encoded
from corpus_assets.origins.counts import Counts, line_of
from corpus_assets.origins.hosts import Suffixes, host_of, suffixes
from corpus_assets.takedown.keys import keys_with_url, names_of_metadata, urls_of
from corpus_assets.tokenize.encode.attempts import with_fastest
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.documents.looked_for import LookedFor, numbers_of
from resources.formats.documents import decode_document
from resources.stage.partition import Partition
from resources.stage.task import Task

TRAIN = "decontaminated_train"
LIST = "suffixes"
"""The local file with the Public Suffix List."""
YEARS = "years"
"""Counters: documents, bytes and tokens by source and year."""
_FIRST_TEXTS = 64


class _Document(NamedTuple):
    """A document of train as far as it is counted. year: in which it was written, empty if it is not known."""

    text: str
    size: int
    source: str
    host: str
    year: str


@lru_cache(maxsize=2)
def rules_of(content: bytes) -> Suffixes:
    """Returns the rules of a Public Suffix List."""
    return suffixes(content.decode().splitlines())


def origin_counts(task: Task, tokenizer: str) -> None:
    """Writes documents, bytes and tokens of one chunk by source, domain and host; each document once.

    tokenizer: the asset with it; empty to count no tokens.
    """
    given = task.input(TRAIN)
    if not tokenizer:
        _write(task, ((document, 0) for document in _documents(task, given)))
        return
    loaded = load_tokenizer_of(task.input(tokenizer))

    def attempt(fast: Tokenizer) -> None:
        batches = encoded(_documents(task, given), fast, Cleaning())
        _write(task, (pair for batch in batches for pair in _with_tokens(batch)))

    first = [decode_document(line).text[:FIRST_CHARACTERS] for line in islice(given.lines(), _FIRST_TEXTS)]
    _, report = with_fastest(task, loaded, first, attempt)
    task.count(**report)


def _with_tokens(batch: Any) -> Iterator[tuple[_Document, int]]:
    yield from zip(batch.documents, batch.ids.lengths.tolist(), strict=True)
    yield from ((document, 0) for document in batch.without_cut)


def _documents(task: Task, given: Partition) -> Iterator[_Document]:
    keys = task["origins.url_keys"]
    looked_for = LookedFor("documents", {"origins.url_keys": [_any(keys)]})
    for line, (copy, size) in zip(given.lines(), given.array(".rows.npy")[["copy", "bytes"]].tolist(), strict=True):
        if copy:
            continue
        document = decode_document(line)
        found = keys_with_url(document, keys)
        looked_for.add(names_of_metadata(document) if looked_for.needs_names else (), [_any(keys)] if found else [])
        hosts = map(host_of, urls_of(document, found))
        host = next(filter(None, hosts), "")
        yield _Document(document.text, size, document.source, host, _year(document.created))
    task.count(**numbers_of(looked_for))


def _any(keys: Sequence[str]) -> str:
    return " or ".join(keys)


def _year(created: str | None) -> str:
    start = (created or "")[:5]
    return start[:4] if start[:4].isdecimal() and start[:4].isascii() and not start[4:].isdecimal() else ""


def _write(task: Task, documents: Iterable[tuple[_Document, int]]) -> None:
    rules = rules_of(task.local_files[LIST])
    counts = Counts(task.memory // 2, task.scratch)
    years: dict[str, dict[str, Counter[str]]] = {}
    rows = 0
    for document, tokens in documents:
        domain = rules.domain(document.host) if document.host else ""
        counts.add((document.source, domain, document.host), document.size, tokens)
        of_year = years.setdefault(document.source, {}).setdefault(document.year, Counter())
        of_year.update(documents=1, text_bytes=document.size, tokens=tokens)
        rows += 1
    with task.lines(f"origins/counts/{task.key}.jsonl") as out:
        for row in counts.rows():
            out.write(line_of(row))
    task.save_counters(YEARS, {source: dict(sorted(held.items())) for source, held in sorted(years.items())})
    task.count(rows_in=rows, rows_out=out.written.rows)
