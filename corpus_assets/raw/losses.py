"""Gates for sources that are empty, or lost most of their files or rows: reasons to hold back all readers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.raw_places.files import printable
from resources.shards.left_out import Unread
from resources.shards.listing import Listing
from resources.stage.declaration import Stage

BAD_FILE = "bad_file"
SKIPPED_MEMBER = "skipped_member"
MISLABELLED = frozenset({"binary_content", "control_characters", "identified_otherwise", "undecodable"})
"""Reasons for WARC records that are declared as text but are not."""
NO_DOCUMENT = frozenset({"not_a_document", "not_text", "http_status", "empty_record", "no_text_found"}) | MISLABELLED
"""Reasons for WARC records that by their kind hold no document."""
TAKEDOWN = "takedown"
NOT_SAMPLED = "not_sampled"
"""The reason for rows that are not in a sample of the corpus."""
NO_ROWS = frozenset({BAD_FILE, SKIPPED_MEMBER, TAKEDOWN, NOT_SAMPLED}) | NO_DOCUMENT
"""Reasons that do not count bad rows: files, members of archives, records without a document, removed documents, rows
outside a sample.
"""
REPLACED = "replaced_characters"
"""Statistic of web crawls: number of U+FFFD that replace bytes which could not be decoded."""
GUESSED = "charsets_guessed"
"""Statistic of web crawls: number of documents that do not declare a charset."""
ROLES = "roles"
"""Statistic of examples: how many messages have each role."""
PREFERENCE_ROLES = "preference_roles"
"""The same for preferences that are messages."""
MANY_ROLES = 1000
"""Most roles that are counted; more of them are names or texts and no roles."""
_MOST = 0.5
_NEARLY_ALL = 0.9
_READS = ", and a `format` reads files of any name"
_ROLES_SHOWN = 5
_SHOWN = 300

Records = Mapping[str | None, Record]


@dataclass
class Read:
    """The rows of one source: rows in and out, and dropped ones by reason.

    files: those that exist now.
    counted: those whose records say how many rows they have.
    gone: those that were read before.
    bytes: of those that exist.
    unread: files beside them of no known suffix.
    left_out: the files that were left out, in words, if there are no others.
    roles: number of messages with each.
    """

    files: int = 0
    counted: int = 0
    gone: int = 0
    rows_out: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    bytes: int = 0
    unread: Unread = field(default_factory=Unread)
    left_out: Sequence[str] = ()
    replaced: int = 0
    guessed: int = 0

    @property
    def bad_rows(self) -> Counter[str]:
        """The rows that were dropped, by reason."""
        return Counter({reason: count for reason, count in self.dropped.items() if reason not in NO_ROWS})

    @property
    def rows_in(self) -> int:
        """The rows of all files that could be read."""
        return self.rows_out + self.bad_rows.total()

    def add(self, record: Record) -> None:
        """Adds the numbers in the record of one file."""
        numbers = record.statistics
        self.files += 1
        self.counted += "rows_out" in numbers
        self.rows_out += numbers.get("rows_out", 0)
        self.dropped.update(numbers.get("dropped", {}))
        self.examples += numbers.get("dropped_examples", [])
        self.roles.update(numbers.get(ROLES, {}))
        self.replaced += numbers.get(REPLACED, 0)
        self.guessed += numbers.get(GUESSED, 0)

    def all_dropped(self) -> Iterator[str]:
        """Yields in words the dropped rows, files, members of archives, and records without a document."""
        if self.bad_rows:
            yield self.dropped_rows("raw ")
        if self.dropped[BAD_FILE]:
            yield self.bad_files()
        if members := self.dropped[SKIPPED_MEMBER]:
            yield f"{members:,} members of archives dropped ({SKIPPED_MEMBER})"
        if passed := {reason: count for reason, count in sorted(self.dropped.items()) if reason in NO_DOCUMENT}:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in passed.items())
            example = self._example(reason for reason in passed if reason in MISLABELLED)
            yield f"{sum(passed.values()):,} records without a document passed over ({reasons}){example}"
        if removed := self.dropped[TAKEDOWN]:
            yield f"{removed:,} documents removed ({TAKEDOWN})"
        decoded = (
            (self.replaced, "{:,} characters that could not be decoded are U+FFFD"),
            (self.guessed, "of {:,} documents the charset was guessed, as nothing names it"),
        )
        if words := [text.format(count) for count, text in decoded if count]:
            yield "; ".join(words)

    def _example(self, reasons: Iterable[str]) -> str:
        """Returns an example of the first reason that has one."""
        for reason in reasons:
            if found := next((text for text in self.examples if f": {reason}: " in text), None):
                return f"; for example {found[:_SHOWN]}"
        return ""

    def dropped_rows(self, raw: str = "") -> str:
        """Returns in words how many rows were dropped, and why."""
        bad = self.bad_rows
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(bad.items()))
        return f"{bad.total():,} of {self.rows_in:,} {raw}rows dropped ({reasons})"

    def bad_files(self) -> str:
        """Returns in words how many files could not be read."""
        return f"{self.dropped[BAD_FILE]:,} of {self.files:,} files dropped ({BAD_FILE})"

    def hint(self, *, files: bool = False) -> str:
        """Returns an example of the most frequent reason; for a missing key it names the keys of the row."""
        counts = Counter({BAD_FILE: self.dropped[BAD_FILE]}) if files else self.bad_rows
        for reason, _ in counts.most_common():
            if found := next((text for text in self.examples if f": {reason}: " in text or files), None):
                return f"; for example {found[:_SHOWN]}"
        return ""


def read_of(source: str, records: Records, listing: Listing) -> Read:
    """Returns the numbers of a source, from the records of its present files."""
    found = Read()
    present = listing.keys([source])
    found.unread = listing.unread.get(source, found.unread)
    found.bytes = sum(shard.bytes for shard in listing.shards if shard.source == source)
    if not present:
        labels = ((label, why) for label, why in listing.ignored if label.startswith(f"{source}/"))
        found.left_out = [f"{label}: {why}" for label, why in labels]
    for record in (records[key] for key in present if key in records):
        found.add(record)
    found.files = len(present)
    found.gone = sum((key or "").partition("--")[0] == source for key in records.keys() - set(present))
    return found


def lost_files(values: Mapping[str, Any], found: Read) -> Iterator[str]:
    """Yields why the present files of a source cannot be all: there are none, or most of the earlier ones are gone.

    values: `location`, `glob` and `may_be_empty` of the source.
    """
    if values["may_be_empty"]:
        return
    globs = values["glob"] if isinstance(values["glob"], list) else [values["glob"]]
    if not found.files:
        patterns = " or ".join(repr(glob) for glob in globs)
        there = f": {len(found.left_out):,} passed over, for example {found.left_out[0]}" if found.left_out else ""
        words = "matches" if not there else "that can be read matches"
        yield (
            f"no file in {printable(values['location'])!r} {words} {patterns}{there} "
            f"(`may_be_empty: true` goes on without{_READS if found.unread.files else ''})"
        )
    elif found.gone > _MOST * (found.gone + found.files):
        yield (
            f"{found.gone:,} files that were read before are not in {printable(values['location'])!r}, which has "
            f"{found.files:,} now (`corpus clean --force` forgets them)"
        )


def unread_files(values: Mapping[str, Any], found: Read) -> Iterator[str]:
    """Yields why a source has too many files of unknown suffix, by number and by bytes.

    Both must be too large, so that neither small files beside the data (a checksum and an index for each) nor a single
    large file count; if they are `_NEARLY_ALL` files, their number alone counts. values: `max_bad_rows` of the source.
    """
    most, unread = values["max_bad_rows"], found.unread
    files, size = found.files + unread.files, found.bytes + unread.bytes
    are_much = unread.bytes > most * size or unread.files > _NEARLY_ALL * files
    if found.files and unread.files > most * files and are_much:
        yield (
            f"{unread.files:,} of {files:,} files passed over, more than max_bad_rows {most:g} allows; for example "
            f"{unread.example} (a `glob` leaves them out{_READS})"
        )


def lost_rows(values: Mapping[str, Any], found: Read) -> Iterator[str]:
    """Yields why the rows of a source do not suffice: too many rows or files are bad, or none gave a document.

    values: `max_bad_rows` and `may_be_empty` of the source.
    """
    most = values["max_bad_rows"]
    if found.dropped[BAD_FILE] > most * found.files:
        yield f"{found.bad_files()}, more than max_bad_rows {most:g} allows{found.hint(files=True)}"
    elif found.bad_rows.total() > most * found.rows_in:
        yield f"{found.dropped_rows()}, more than max_bad_rows {most:g} allows{found.hint()}"
    elif found.counted == found.files > 0 == found.rows_out and not values["may_be_empty"]:
        lost = f": {found.dropped_rows()}{found.hint()}" if found.rows_in else ""
        yield f"{found.files:,} files, but nothing in them{lost} (`may_be_empty: true` goes on)"


def source_losses(records: Records, settings: Mapping[str, Any], listing: Listing) -> list[str]:
    """Returns for every source why its rows must not be used yet (a gate over all partitions)."""
    return [
        f"source {source['name']}: {why}"
        for source in settings["sources"]
        for why in _losses(source, read_of(source["name"], records, listing))
    ]


def listed_losses(settings: Mapping[str, Any], listing: Listing) -> list[str]:
    """Returns for every source why its files cannot be used, as far as it is known before they are read."""
    return [
        f"source {source['name']}: {why}"
        for source in settings["sources"]
        for why in _listed(source, read_of(source["name"], {}, listing))
    ]


def dataset_losses(records: Records, settings: Mapping[str, Any], listing: Listing, dataset: str) -> list[str]:
    """Returns why the rows of a dataset's own files must not be used yet (a gate over all partitions)."""
    (entry,) = (entry for entry in settings["datasets"] if entry["name"] == dataset)
    found = _read_of_dataset(entry, records, listing)
    return [f"dataset {dataset}: {why}" for why in [*_losses(entry["input"], found), *lost_roles(entry, found)][:1]]


def listed_dataset_losses(settings: Mapping[str, Any], listing: Listing, dataset: str) -> list[str]:
    """Returns why the files that a dataset has now cannot be used."""
    (entry,) = (entry for entry in settings["datasets"] if entry["name"] == dataset)
    found = _read_of_dataset(entry, {}, listing)
    return [f"dataset {dataset}: {why}" for why in _listed(entry["input"], found)]


def _read_of_dataset(entry: Mapping[str, Any], records: Records, listing: Listing) -> Read:
    found = read_of(entry["name"], records, listing)
    if entry.get("compat") == "cerebras":
        found.unread = Unread()  # Cerebras ignores files of all other suffixes too.
    return found


def benchmark_losses(records: Records, settings: Mapping[str, Any], listing: Listing, benchmark: str) -> list[str]:
    """Returns why the rows of a benchmark must not be used yet (a gate over all partitions)."""
    (entry,) = (entry for entry in settings["benchmarks"] if entry["name"] == benchmark)
    return [f"benchmark {benchmark}: {why}" for why in _losses(entry, read_of(benchmark, records, listing))]


def listed_benchmark_losses(settings: Mapping[str, Any], listing: Listing, benchmark: str) -> list[str]:
    """Returns why the files that a benchmark has now cannot be used."""
    (entry,) = (entry for entry in settings["benchmarks"] if entry["name"] == benchmark)
    return [f"benchmark {benchmark}: {why}" for why in _listed(entry, read_of(benchmark, {}, listing))]


def lost_roles(entry: Mapping[str, Any], found: Read) -> Iterator[str]:
    """Yields that no message of a dataset has one of its `loss_roles`, so that nothing would be learned.

    entry: the dataset's.
    """
    wanted = entry.get("loss_roles")
    if not wanted or len(found.roles) >= MANY_ROLES or not found.rows_out or entry["input"]["may_be_empty"]:
        return
    if not found.roles.keys() & set(wanted):
        there = ", ".join(f"{printable(role)!r} {count:,}" for role, count in found.roles.most_common(_ROLES_SHOWN))
        yield (
            f"no message has a role of loss_roles ({', '.join(map(repr, wanted))}), so nothing would be learned; the "
            f"messages have {there or 'no roles'} (`may_be_empty: true` goes on)"
        )


def _losses(values: Mapping[str, Any], found: Read) -> list[str]:
    return [*_listed(values, found), *(lost_rows(values, found) if found.files else ())][:1]


def _listed(values: Mapping[str, Any], found: Read) -> list[str]:
    return [*lost_files(values, found), *unread_files(values, found)]


def refused_deletions(planner: Planner) -> list[str]:
    """Returns why orphans must not be deleted without `--force`: the folder of a source lost most of its files.

    `corpus clean` checks this before it deletes anything.
    """
    values = planner.settings.values
    own = {entry["name"]: entry for entry in planner.settings.inputs()}
    places = {**{entry["name"]: ("source", entry) for entry in values["sources"]}}
    places |= {name: ("dataset", entry) for name, entry in own.items()}
    places |= {entry["name"]: ("benchmark", entry) for entry in planner.settings.benchmarks()}
    records = {
        key: record for stage in planner.graph if stage.digests_raw_files for key, record in _all(planner, stage)
    }
    return [
        f"{what} {name}: {why}"
        for name, (what, entry) in places.items()
        if (found := read_of(name, records, planner.listing)).gone
        for why in lost_files(entry, found)
    ]


def _all(planner: Planner, stage: Stage) -> Sequence[tuple[str | None, Record]]:
    return list(planner.records(stage.name).items())
