"""Counts of the readers of a raw file: how many rows have each configured key, and how many ids were derived."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from corpus_assets.config.datasets.files import KEYS, Files, Shape
from corpus_assets.config.naming import MESSAGE_KEY, METADATA_KEY, ROW_KEY, names_given
from corpus_assets.config.sections import Source
from corpus_assets.config.selection.contamination import Benchmark
from corpus_assets.raw.rows.json_values import LIST, OBJECT, Fields, kind_of, lift
from corpus_assets.raw.rows.paths import kept, with_dots
from resources.documents.looked_for import LookedFor, numbers_of

DERIVED_IDS: Final = "derived_ids"
"""Statistic: number of rows whose id was derived from file and row."""

_READ_ANYWAY: Final = frozenset({"id", "source", "added", "created", "metadata", "meta"})

Wanted = Mapping[str, Sequence[str]]
"""Names that are looked for, by the place in corpus.yaml that gives them."""


class Seen:
    """Counts keys of the rows, and of the messages in them.

    derived_ids: number of rows with derived ids. expected: keys that rows may lack; their absence is reported only if
    rows have keys outside `known`. places: where corpus.yaml gives each key.
    """

    def __init__(
        self,
        keys: Wanted,
        messages: Wanted | None = None,
        *,
        expected: Wanted | None = None,
        known: Sequence[str] = (),
        metadata: Wanted | None = None,
    ) -> None:
        self._keys = LookedFor("rows", keys)
        self._expected = LookedFor("rows", expected or {})
        self._messages = LookedFor("messages", messages or {})
        self._metadata = LookedFor("documents", metadata or {})
        self._metadata_keys = tuple(name for names in (metadata or {}).values() for name in names)
        self._message_keys = with_dots([name for names in (messages or {}).values() for name in names])
        self._counts_rows = bool(keys or expected)
        self._wants_all_names = bool(expected)
        self._names = tuple(name for names in keys.values() for name in names)
        self._known = _READ_ANYWAY.union(known)
        self._others = False
        self.derived_ids = 0
        self.places: Final[Mapping[str, str]] = {name: place for place, names in keys.items() for name in names}

    def row(self, fields: Fields) -> None:
        """Counts a row of JSON values; null is nothing."""
        if not self._counts_rows:
            return
        if self._wants_all_names or self._keys.needs_names:
            self._add([name for name, raw in fields.items() if kind_of(raw) != "null"])
        else:  # The usual case: only the configured names are counted.
            self._keys.add((), [name for name in self._names if name in fields and kind_of(fields[name]) != "null"])

    def columns(self, values: Mapping[str, object]) -> None:
        """Counts a row of typed columns."""
        if self._counts_rows:
            self._add([name for name, value in values.items() if value is not None])

    def _add(self, names: Sequence[str]) -> None:
        self._keys.add(names)
        self._expected.add(names)
        self._others = self._others or not self._known.issuperset(names)

    def messages(self, raw: msgspec.Raw | None) -> None:
        """Counts the messages in a value, if it is a list of objects."""
        if self._messages.wants_any and raw is not None and kind_of(raw) == "list":
            for item in LIST.decode(raw):
                if kind_of(item) == "object":
                    message = OBJECT.decode(item)
                    lift(message, self._message_keys)
                    self._messages.add(message)

    def metadata(self, fields: Fields) -> None:
        """Counts the metadata of a row, of which some keys are kept."""
        if self._metadata.wants_any:
            self._metadata.add(fields, [key for key in self._metadata_keys if kept(fields, [key])])

    def numbers(self) -> dict[str, Any]:
        """Returns the statistics of the partition that the file is read for."""
        counts = [self._keys, self._messages, self._metadata, *([self._expected] if self._others else [])]
        return {**numbers_of(*counts), DERIVED_IDS: self.derived_ids}


def of_source(source: str, parameters: Mapping[str, Any]) -> Seen:
    """Returns the counter for a source. parameters: of a stage that reads its documents."""
    values = {key.removeprefix("source."): value for key, value in parameters.items() if key.startswith("source.")}
    where = f"sources.{source}"
    kept_keys = names_given(Source, values, where, METADATA_KEY, {"metadata_keys"})
    return Seen(names_given(Source, _with_ids(values), where, ROW_KEY), metadata=kept_keys)


def of_benchmark(benchmark: str, values: Mapping[str, Any]) -> Seen:
    """Returns the counter for a benchmark. values: its section."""
    return Seen(names_given(Benchmark, _with_ids(values), f"benchmarks.{benchmark}", ROW_KEY))


def of_dataset(dataset: str, values: Mapping[str, Any], shape: Shape) -> Seen:
    """Returns the counter for a dataset's own files. values: their section of corpus.yaml."""
    files, where = Files.model_construct(None, **values), f"datasets.{dataset}.input"
    keys, read = files.keys(shape), {"id_key", *KEYS[shape]}
    wanted = names_given(Files, _with_ids(values), where, ROW_KEY, read)
    prompt = f"{where}.prompt_key"
    expected = {prompt: files.prompt_keys} if shape == "preference" and prompt not in wanted else {}
    messages = names_given(Files, values, where, MESSAGE_KEY, read)
    kept_keys = names_given(Files, values, where, METADATA_KEY, {"metadata_keys"})
    return Seen(wanted, messages, expected=expected, known=keys, metadata=kept_keys)


def _with_ids(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a section without the key of the id, if ids are never read from rows."""
    return {**values, "id_key": None} if values["ids"] == "derived" else values
