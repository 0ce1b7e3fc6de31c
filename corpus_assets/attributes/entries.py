"""An entry of `attributes` for its stage: its taggers, with the files and values that corpus.yaml gives them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from corpus_assets.attributes.batches import Together
from corpus_assets.attributes.loading import loaded, loaded_asset, loaded_batch
from corpus_assets.attributes.registry import AnyTagger
from corpus_assets.attributes.splitters.entry_words import Words
from corpus_assets.attributes.tagging import Named, key_part
from corpus_assets.config.endpoint import ASKED
from resources.documents.batch_tagger import BatchTagger, Loading
from resources.documents.tagger import Tagger
from resources.errors import ConfigError
from resources.outside_files import OutsideFile
from resources.stage.partition import Partition

Values = Mapping[str, Any]
Given = Mapping[str, Values]
"""What corpus.yaml gives each tagger: paths and other values, by option."""

FILES: Final = ("lists", "model", "tokenizer", "borders")
_IN_BATCHES: Final = ("endpoint", "settings", "batch_size", "device")


@dataclass(frozen=True)
class Entry:
    """A configured entry for its stage, with taggers in the order of their names.

    place: its key in corpus.yaml, for messages.
    words: how texts are split into words; None for the way of each tagger.
    """

    name: str
    place: str
    taggers: tuple[AnyTagger, ...]
    compat: str | None
    words: Words | None = None

    def functions(self, given: Given, digests: Mapping[str, Any], input_of: Callable[[str], Partition]) -> list[Named]:
        """Returns the functions of the taggers that look at one text, and the keys that they fill.

        given: options of each tagger. digests: the parameters of the recipe, with the digest of each file.
        input_of: the partition of an asset that a tagger needs.
        """
        taggers = (tagger for tagger in self.taggers if isinstance(tagger, Tagger))
        choice = {"words": self.words.choice} if self.words else {}
        return [
            self._named(tagger, given.get(tagger.name, {}), digests, input_of, choice if tagger.splits_words else {})
            for tagger in taggers
        ]

    def _named(
        self,
        tagger: Tagger,
        given: Values,
        digests: Mapping[str, Any],
        input_of: Callable[[str], Partition],
        choice: Values,
    ) -> Named:
        loaders, held = tagger.loaders(self.compat), dict(choice)
        if tagger.asset:
            held["model"] = loaded_asset(tagger, input_of(tagger.asset))
        for option, paths in files_of(given).items():
            digest = digests[self.recipe_key(tagger, option)]
            held[option] = loaded(loaders[option], self.option_key(tagger, option), paths, digest)
        function = tagger.function(self.compat)
        unread = sum(getattr(value, "unread_lines", 0) for value in held.values())
        return Named(tagger.name, self._prefix(tagger), partial(function, **held) if held else function, unread)

    def together(self, given: Given, digests: Mapping[str, Any]) -> list[Together]:
        """Returns the taggers that look at many texts at once, loaded; arguments as of `functions`."""
        taggers = (tagger for tagger in self.taggers if isinstance(tagger, BatchTagger))
        return [self._together(tagger, given.get(tagger.name, {}), digests) for tagger in taggers]

    def _together(self, tagger: BatchTagger, given: Values, digests: Mapping[str, Any]) -> Together:
        files = files_of(given)
        loading = Loading(
            files={option: [OutsideFile(path) for path in paths] for option, paths in files.items()},
            settings={**tagger.settings, **(given.get("settings") or {})},
            device=given.get("device") or "cpu",
            endpoint=given.get("endpoint") or {},
        )
        places = {option: self.option_key(tagger, option) for option in files}
        batch = loaded_batch(tagger, loading, places, {o: digests[self.recipe_key(tagger, o)] for o in files})
        size = given.get("batch_size") or tagger.batch_size
        return Together(tagger.name, self._prefix(tagger), batch, size, tagger.digits)

    def _prefix(self, tagger: AnyTagger) -> str:
        return f"{key_part(self.name)}__{key_part(tagger.name)}__"

    def settings_of(self, tagger: BatchTagger, given: Values) -> dict[str, Any]:
        """Returns the values that a tagger's scores depend on, by their key in the recipe."""
        found = {}
        if tagger.settings:
            found["settings"] = {**tagger.settings, **(given.get("settings") or {})}
        if endpoint := given.get("endpoint"):
            found["endpoint"] = {key: endpoint[key] for key in ASKED}
        return {self.recipe_key(tagger, option): value for option, value in found.items()}

    @property
    def reads(self) -> dict[str, list[str]]:
        """Keys of the metadata that its taggers read, as `metadata.KEY`, by the place in corpus.yaml."""
        taggers = (tagger for tagger in self.taggers if isinstance(tagger, Tagger))
        reading = {f"{self.place}.taggers: {tagger.name} reads": tagger.reads for tagger in taggers}
        return {place: [f"metadata.{key}" for key in keys] for place, keys in reading.items() if keys}

    @property
    def assets(self) -> list[str]:
        """The assets that its taggers need besides documents, each once."""
        needed = [tagger.asset for tagger in self.taggers if isinstance(tagger, Tagger) and tagger.asset]
        labels = [self.words.labels.asset] if self.words and self.words.labels else []
        return list(dict.fromkeys([*needed, *labels]))

    def option_key(self, tagger: AnyTagger, option: str) -> str:
        """Returns the place of a tagger's option in corpus.yaml."""
        return f"{self.place}.options.{tagger.name}.{option}"

    def recipe_key(self, tagger: AnyTagger, option: str) -> str:
        """Returns the key that a tagger's option has in the recipe."""
        return f"attributes.{self.name}.{option}.{tagger.name}"


def files_of(given: Values) -> dict[str, list[str]]:
    """Returns the paths among the options of a tagger, by option."""
    found = ((option, given.get(option)) for option in FILES)
    return {option: paths if isinstance(paths, list) else [paths] for option, paths in found if paths}


def require_options(entry: Entry, options: Given) -> None:
    """Raises `ConfigError` for an option that a tagger lacks, or does not have."""
    for tagger in entry.taggers:
        for problem in _problems(entry, tagger, options.get(tagger.name, {})):
            raise ConfigError(problem)


def _problems(entry: Entry, tagger: AnyTagger, values: Values) -> Iterator[str]:
    given = [option for option, value in values.items() if value not in (None, {})]
    needed: Sequence[str] = tuple(tagger.files)
    known = needed
    if isinstance(tagger, BatchTagger):
        needed = tagger.options
        known = (*needed, *(("settings",) if tagger.settings else ()), "batch_size", "device")
    for option in given:
        if option not in known:
            valid = ", ".join(known) or "none; leave it out"
            only = " (only taggers in batches have it)" if option in _IN_BATCHES and isinstance(tagger, Tagger) else ""
            yield f"{entry.option_key(tagger, option)}: {tagger.name} has no such option{only}; valid: {valid}"
    for option in needed:
        if option not in given:
            what = "the address of a server" if option == "endpoint" else "the path of a local file"
            yield f"{entry.option_key(tagger, option)}: missing, but {tagger.name} needs it: {what}"
    if isinstance(tagger, BatchTagger):
        for name in sorted(set(values.get("settings") or {}) - set(tagger.settings)):
            place, valid = entry.option_key(tagger, "settings"), ", ".join(tagger.settings)
            yield f"{place}.{name}: {tagger.name} does not declare it; valid: {valid}"
        yield from _endpoint_problems(entry, tagger, values.get("endpoint"))


def _endpoint_problems(entry: Entry, tagger: BatchTagger, endpoint: Values | None) -> Iterator[str]:
    if endpoint:
        for key in tagger.asks_with:
            if endpoint[key] is None:
                yield f"{entry.option_key(tagger, 'endpoint')}.{key}: missing, but {tagger.name} needs it"
