"""Stages of classifiers: the places of examples in each shard, and the trained classifier; and the tagger of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from typing_extensions import override

from corpus_assets.classifiers.conditions import of_source
from corpus_assets.classifiers.labelled import labelled
from corpus_assets.classifiers.linear import RATE
from corpus_assets.classifiers.model import Model, decoded, score
from corpus_assets.classifiers.training import CLASSES, FASTTEXT_RATE, FIGURES, SUFFIX, frozen, imported, train
from resources.documents.looked_for import absent_names
from resources.documents.tagger import Tagger
from resources.errors import ConfigError
from resources.formats.row_tables import TEXTS
from resources.outside_files import outside_digest
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

GROUP: Final = "classifiers"
WHEEL: Final = "fasttext-community"

_KERNELS = "corpus_assets.classifiers.kernels.linear."
_FEWEST_IN_A_SAMPLE = 3
"""One example of each class to train on, to calibrate on, and to hold out."""

_SAMPLED = ("examples", "characters", "seed")
_TRAINED = ("kind", "holdout", "least", "ngrams", "buckets", "epochs", "learning_rate", "calibration")


def classifier_asset(name: str) -> str:
    """Returns the asset of a classifier."""
    return f"{name}_classifier"


def _labelled_asset(name: str) -> str:
    return f"{name}_labelled"


@dataclass(frozen=True)
class _Given:
    """A configured classifier. place: its key in corpus.yaml."""

    place: str
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def classes(self) -> dict[str, Sequence[Mapping[str, Any]]]:
        return {label: self.values[label] for label in CLASSES}

    def parameters(self, keys: Iterable[str]) -> dict[str, Any]:
        """Returns values by the dotted keys that recipes have."""
        rate = self.values["learning_rate"] or (RATE if self.values["kind"] == "linear" else FASTTEXT_RATE)
        return {f"classifiers.{self.name}.{key}": {**self.values, "learning_rate": rate}[key] for key in keys}

    def files(self) -> Iterator[dict[str, Any]]:
        """Yields the files of examples: path, class, condition, place in corpus.yaml, keys of condition and digest."""
        for label, entries in self.classes.items():
            for number, entry in enumerate(entries):
                if entry["file"]:
                    yield {
                        "path": entry["file"],
                        "label": label,
                        "condition": {key: entry[key] for key in ("key", "min", "max", "values")},
                        "place": f"{self.place}.{label}.{number}.file",
                        "recipe": f"classifiers.{self.name}.{label}.{number}",
                        "digest": f"classifiers.{self.name}.{label}.{number}.file",
                    }

    def located(self, settings: Values) -> "_Given":
        """Returns the same with the paths that a build uses."""
        return next(_Given(self.place, one) for one in settings["classifiers"] if one["name"] == self.name)

    def keys(self) -> dict[str, list[str]]:
        """Returns the keys of metadata that examples of sources depend on, by their place in corpus.yaml."""
        return {
            f"{self.place}.{label}.{number}.key": [f"metadata.{entry['key']}"]
            for label, number, entry in self.conditions()
        }

    def conditions(self) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        """Yields the entries of sources of which not every document is an example, with their class and number."""
        for label, entries in self.classes.items():
            yield from ((label, number, one) for number, one in enumerate(entries) if one["source"] and one["key"])


@dataclass(frozen=True)
class LabelledHooks(Hooks):
    """The hooks of the places of examples."""

    given: _Given

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the keys of conditions for all sources: if there are any, all shards are read with their metadata."""
        keys = {
            f"classifiers.{self.given.name}.{label}.{number}.key": entry["key"]
            for label, number, entry in self.given.conditions()
        }
        return self.given.parameters(_SAMPLED) | keys

    @override
    def source_parameters(self, source: Values) -> Values:
        conditions = of_source(source["name"], self.given.classes)
        return {f"classifiers.{self.given.name}.{place}": condition for place, condition in conditions.items()}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return absent_names(partitions, settings)


@dataclass(frozen=True)
class TrainedHooks(Hooks):
    """The hooks of a classifier that is trained."""

    given: _Given

    @override
    def derived_parameters(self, settings: Values) -> Values:
        given = self.given.located(settings)
        found = given.parameters((*_SAMPLED, *_TRAINED))
        if settings["sample"]:  # A small one shows what a build costs, not what the filter is worth.
            found[f"classifiers.{given.name}.least"] = min(given.values["least"], _FEWEST_IN_A_SAMPLE)
        for file in given.files():
            found[file["digest"]] = outside_digest(file["place"], [file["path"]])
            found[file["recipe"]] = file["condition"]
        if given.values["kind"] == "fasttext":
            found |= given.parameters(["dimension"])
            found[f"classifiers.{given.name}.wheel"] = _wheel_version(f"{given.place}.kind: fasttext")
        return found

    @override
    def run_options(self, settings: Values) -> Values:
        return {"files": list(self.given.located(settings).files())}

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        names = ("bucketed_ngrams", "learn", "log_odds")
        return [f"{_KERNELS}{name}" for name in names] if self.given.values["kind"] == "linear" else ()

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return figure_notes(self.given.name, partitions)


@dataclass(frozen=True)
class ImportedHooks(Hooks):
    """The hooks of a classifier that was exported elsewhere."""

    given: _Given

    @override
    def derived_parameters(self, settings: Values) -> Values:
        file = self.run_options(settings)["model"]
        return {file["digest"]: outside_digest(file["place"], [file["path"]])}

    @override
    def run_options(self, settings: Values) -> Values:
        name, place = f"classifiers.{self.given.name}.model", f"{self.given.place}.model"
        return {"model": {"path": self.given.located(settings).values["model"], "place": place, "digest": name}}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return figure_notes(self.given.name, partitions)


def figure_notes(name: str, partitions: Iterable[Partition]) -> Iterator[str]:
    """Yields what the classifier is worth on held-out examples, in a sentence."""
    for partition in partitions:
        found = partition.counters(FIGURES)["figures"]
        yield (
            f"classifier {name}: on {found['positive'] + found['negative']:,} held-out examples precision "
            f"{found['precision']:.3f}, recall {found['recall']:.3f}, AUC {found['auc']:.3f}, calibration error "
            f"{found['ece']:.3f}"
        )


def _wheel_version(what: str) -> str:
    try:
        return version(WHEEL)
    except PackageNotFoundError:
        raise ConfigError(f"{what} needs the extra 'fasttext'; run: pip install 'corpus-assets[fasttext]'") from None


def classifier_stages(sections: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """Yields the stages of all classifiers."""
    for number, values in enumerate(sections):
        yield from _stages(_Given(f"classifiers.{number}", values))


def _stages(given: _Given) -> Iterator[Stage]:
    name = given.name
    classifier = partial(
        Stage,
        name=classifier_asset(name),
        group=GROUP,
        unit_in="examples",
        unit_out="examples",
        partitioning=Partitioning.NONE,
        code_version="1",
        io="records",
        kinds=(given.values["kind"],),
    )
    if given.values["model"]:
        yield classifier(
            description="A classifier from a file that was exported, with its figures.",
            compute=partial(imported, name=name),
            hooks=ImportedHooks(given),
        )
        return
    if given.values["frozen"]:
        yield classifier(
            description="A classifier as it was trained once, whatever became of its examples since.",
            compute=partial(frozen, name=name),
            frozen=True,
        )
        return
    keys = given.keys()
    yield Stage(
        name=_labelled_asset(name),
        group=GROUP,
        unit_in="documents",
        unit_out="examples",
        description=f"Which documents of a shard may be examples of the classifier {name}.",
        partitioning=Partitioning.SHARD,
        compute=partial(labelled, name=name, classes=CLASSES, keys=keys),
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents") if keys else same("normalized_documents", segment=TEXTS),),
        hooks=LabelledHooks(given),
        columns={"hash": "uint64: of the text", "part": "uint32: 0", "row": "uint32: row of the document"},
        kinds=("numpy",),
    )
    yield classifier(
        description="A classifier trained on examples, calibrated and measured on others.",
        compute=partial(train, name=name, labelled=_labelled_asset(name)),
        inputs=(every(_labelled_asset(name), folded=True), every("normalized_documents", tracked=False)),
        hooks=TrainedHooks(given),
        reasons=("in_both_classes",),
    )


def classifier_taggers(sections: Iterable[Mapping[str, Any]]) -> Iterator[Tagger]:
    """Yields the tagger of each classifier."""
    for values in sections:
        kernels = tuple(f"{_KERNELS}{kernel}" for kernel in ("bucketed_ngrams", "log_odds"))
        yield Tagger(
            values["name"],
            score,
            version="1",
            gives="`score`: the probability that the text is a positive one",
            source="trained on this corpus",
            types=("score",),
            extra="fasttext" if values["kind"] == "fasttext" else "",
            wheels=(WHEEL,) if values["kind"] == "fasttext" else (),
            asset=classifier_asset(values["name"]),
            read=read_classifier,
            kernels=kernels if values["kind"] == "linear" else (),
        )


def read_classifier(partition: Partition) -> Model:
    """Returns the classifier that a partition holds."""
    return decoded(partition.file(SUFFIX).path, partition.content(SUFFIX, keep=False))
