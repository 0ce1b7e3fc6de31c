"""`words` of an entry of `attributes`: the splitter of its texts, and the labels that choose it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.attributes.splitters.choice import VERSION, WordChoice, assigned, wheels_of
from corpus_assets.attributes.tagging import key_part
from corpus_assets.attributes.wheels import wheel_version
from resources.documents.attribute_rows import AttributeFile, best_label
from resources.documents.tagger import Tagger
from resources.errors import ConfigError
from resources.formats.documents import Document
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition

EXTRA = "splitters"
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Labels:
    """Where the labels of documents are. prefix: of the attribute keys that end with them."""

    asset: str
    prefix: str


@dataclass(frozen=True)
class Words:
    """How the texts of an entry are split. place: its key in corpus.yaml. labels: None for one language of all."""

    place: str
    given: Values
    labels: Labels | None

    @property
    def choice(self) -> WordChoice:
        """The splitters of the taggers of the entry, which share it."""
        return WordChoice(self.given["language"], self.given["stop_words"])

    def parameters(self, key: str) -> dict[str, Any]:
        """Returns the values that scores depend on; `ConfigError` names a library that is not installed."""
        wheels = {wheel: wheel_version(wheel, EXTRA, self.place) for wheel in wheels_of(self.given["language"])}
        return {
            f"{key}.words": {"version": VERSION, **self.given},
            **{f"{key}.wheels.{wheel}": version for wheel, version in wheels.items()},
        }


class LabelReader:
    """The labels of the documents of a shard, asked for one after another."""

    def __init__(self, attributes: Partition, labels: Labels, documents: int) -> None:
        self._file = AttributeFile(attributes, documents)
        self._prefix = labels.prefix
        self.unlabelled = 0

    def __call__(self, document: Document) -> str | None:
        """Returns the label of the next document; `AlignmentError` if the row there has another id."""
        label = best_label(self._file.take(document.id), self._prefix)
        self.unlabelled += label is None
        return label


def words_of(entry: Values, place: str, entries: Sequence[Values], known: Mapping[str, Any]) -> Words | None:
    """Returns `words` of an entry; `ConfigError` names a language or an entry that there is not.

    place: of the entry in corpus.yaml. entries: all of `attributes`. known: all taggers by name.
    """
    given = entry.get("words")
    if given is None:
        return None
    where = f"{place}.words"
    for problem in _problems(entry, known, given, where):
        raise ConfigError(problem)
    return Words(where, given, _labels(entry, given["by"], entries, f"{where}.by") if given["by"] else None)


def _problems(entry: Values, known: Mapping[str, Any], given: Values, where: str) -> Iterator[str]:
    splitting = [name for name, tagger in known.items() if isinstance(tagger, Tagger) and tagger.splits_words]
    if not set(splitting) & set(entry["taggers"]):
        yield f"{where}: none of its taggers counts words this way; those that do: {', '.join(splitting)}"
    for key, labels in (("language", [given["language"]]), ("stop_words", given["stop_words"])):
        for label in labels:
            if label is not None and label not in assigned():
                near = did_you_mean(label, assigned())
                yield f"{where}.{key}: no splitter for {label!r}{near}; valid: a label such as tha_Thai or eng_Latn"


def _labels(entry: Values, by: str, entries: Sequence[Values], where: str) -> Labels:
    name, tagger = by.rsplit(".", 1)
    others = {one["name"]: one for one in entries if one["name"] != entry["name"]}
    if name not in others:
        known = f"others are: {', '.join(others)}" if others else "there is no other one"
        raise ConfigError(f"{where}: no other entry named {name!r}{did_you_mean(name, others)}; {known}")
    taggers = others[name].get("taggers")
    if taggers is not None and tagger not in taggers:
        raise ConfigError(
            f"{where}: {name!r} has no tagger {tagger!r}{did_you_mean(tagger, taggers)}; it has: {', '.join(taggers)}"
        )
    if (others[name].get("words") or {}).get("by"):
        raise ConfigError(f"{where}: {name!r} has `words.by` itself; valid: an entry without it")
    return Labels(names.attributes(name), f"{key_part(name)}__{key_part(tagger)}__")
