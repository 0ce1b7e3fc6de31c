"""Stages of origins: counts of each chunk of train, and the sums of all; present with `origins`."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.export.encoding import encoded
from corpus_assets.origins.counts import Counts, Largest, Row, line_of, merged
from corpus_assets.origins.hosts import Suffixes, host_of, suffixes
from corpus_assets.takedown.keys import keys_with_url, names_of_metadata, urls_of
from corpus_assets.tokenize.encode.attempts import BACKEND, with_fastest
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.config_files import read_outside
from resources.documents.looked_for import LookedFor, absent_notes, numbers_of
from resources.errors import ConfigError
from resources.formats.documents import decode_document
from resources.hashing import content_digest
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

COUNTS, NAME, TRAIN = "origin_counts", "origins", "decontaminated_train"
FOUND = "origins.json"
_LIST, _LIST_BYTES = "suffixes", 16 << 20
_YEARS = "years"
_FIRST_TEXTS = 64
_SUFFIX_LIST = "origins.suffix_list"
Numbers = tuple[int, int, int]


class _Document(NamedTuple):
    """A document of train as far as it is counted. year: in which it was written, empty if it is not known."""

    text: str
    size: int
    source: str
    host: str
    year: str


@lru_cache(maxsize=2)
def _suffixes(content: bytes) -> Suffixes:
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
    rules = _suffixes(task.local_files[_LIST])
    counts = Counts(task.memory // 2, task.scratch)
    years: dict[str, dict[str, Counter[str]]] = {}
    rows = 0
    for document, tokens in documents:
        domain = rules.domain(document.host) if document.host else ""
        counts.add((document.source, domain, document.host), document.size, tokens)
        of_year = years.setdefault(document.source, {}).setdefault(document.year, Counter())
        of_year.update(documents=1, text_bytes=document.size, tokens=tokens)
        rows += 1
    with task.lines(f"origins/counts/{task.key}.jsonl.gz") as out:
        for row in counts.rows():
            out.write(line_of(row))
    task.save_counters(_YEARS, {source: dict(sorted(held.items())) for source, held in sorted(years.items())})
    task.count(rows_in=rows, rows_out=out.written.rows)


def origins(task: Task, *, has_tokens: bool) -> None:
    """Adds up the counts of all chunks: the largest of each source, and a table of all domains."""
    chunks, most = task.inputs(COUNTS), task["origins.most"]
    sources: dict[str, _Source] = {}
    years: dict[str, dict[str, Counter[str]]] = {}
    for chunk in chunks:
        for source, held in chunk.counters(_YEARS).items():
            for year, numbers in held.items():
                years.setdefault(source, {}).setdefault(year, Counter()).update(numbers)
    rows = 0
    with task.lines("origins/domains.jsonl.gz") as out:
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


@dataclass(frozen=True)
class CountsHooks(Hooks):
    """The hooks of the counts of a chunk. tokenizer: the asset that tokenizes; empty for none."""

    tokenizer: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"origins.suffixes": content_digest(suffix_list(settings)), "origins.tokenizer": self.tokenizer}

    @override
    def local_files(self, settings: Values) -> Mapping[str, bytes]:
        return {_LIST: suffix_list(settings)}

    @override
    def run_options(self, settings: Values) -> Values:
        own = [entry["tokenizer"] for entry in settings["datasets"] if names.tokenizer(entry["name"]) == self.tokenizer]
        return {BACKEND: (own[0] if own else settings["tokenizer"]).get("backend", "tokenizers")}

    @override
    def check_before(self, settings: Values) -> None:
        """Raises `ConfigError` for a list without suffixes."""
        try:
            _suffixes(suffix_list(settings))
        except ValueError as fault:
            raise ConfigError(f"{_SUFFIX_LIST}: {settings['origins']['suffix_list']!r} {fault}") from None

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        """Returns a sentence if no document has a URL."""
        return absent_notes(partitions, None)


def suffix_list(settings: Values) -> bytes:
    """Returns the Public Suffix List; `ConfigError` if there is none."""
    if path := settings["origins"]["suffix_list"]:
        return read_outside(_SUFFIX_LIST, path, _LIST_BYTES)
    try:
        return (files("tldextract") / ".tld_set_snapshot").read_bytes()
    except (ImportError, OSError):
        raise ConfigError(
            f"{_SUFFIX_LIST}: none is given, and the package that has one is missing; run: pip install "
            "'corpus-assets[domains]', or give the path of a public_suffix_list.dat"
        ) from None


def tokenizers_of_train(datasets: Iterable[Mapping[str, Any]], known: Collection[str]) -> list[str]:
    """Returns the tokenizers of the datasets that are made of train, of those that exist, in order."""
    of_train = (entry["name"] for entry in datasets if entry["input"] == TRAIN)
    wanted = (one for name in of_train for one in (names.tokenizer(name), names.SHARED_TOKENIZER))
    return [name for name in wanted if name in known]


def origin_stages(settings: Values, tokenizers: Sequence[str]) -> Iterator[Stage]:
    """Yields the two stages; none without the section. tokenizers: assets, of which the first tokenizes, if any."""
    section = settings["origins"]
    if section is None or not settings["sources"]:
        return
    tokenizer = tokenizers[0] if tokenizers and section["tokens"] else ""
    yield Stage(
        name=COUNTS,
        group="origins",
        unit_in="documents",
        unit_out="hosts",
        description="Documents, text and tokens of one chunk of train by source, domain and host.",
        partitioning=Partitioning.CHUNK,
        compute=partial(origin_counts, tokenizer=tokenizer),
        code_version="1",
        io="records",
        inputs=(same(TRAIN), *([same(tokenizer)] if tokenizer else ())),
        parameters=("origins.url_keys",),
        hooks=CountsHooks(tokenizer),
        kinds=("jsonl",),
    )
    yield Stage(
        name=NAME,
        group="origins",
        unit_in="hosts",
        unit_out="domains",
        description="Domains, hosts, suffixes and years of all documents of train, the largest of each source first.",
        partitioning=Partitioning.NONE,
        compute=partial(origins, has_tokens=bool(tokenizer)),
        code_version="1",
        io="records",
        inputs=(every(COUNTS),),
        parameters=("origins.most",),
        kinds=("json",),
    )
