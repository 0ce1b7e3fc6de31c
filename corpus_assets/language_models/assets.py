"""Stages of language models: the n-grams of each shard, and the trained model; and the tagger of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from typing_extensions import override

from corpus_assets.attributes.taggers.labels.perplexity import PERPLEXITY
from corpus_assets.language_models.counting import LEARNED, ngrams
from corpus_assets.language_models.training import PRUNED, USUAL, perplexity, read_trained, train
from resources.documents.tagger import Tagger
from resources.formats.row_tables import TEXTS
from resources.outside_files import outside_digest
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

GROUP: Final = "language_models"


def model_asset(name: str) -> str:
    """Returns the asset of a language model."""
    return f"{name}_language_model"


def _counted_asset(name: str) -> str:
    return f"{name}_ngrams"


@dataclass(frozen=True)
class ModelHooks(Hooks):
    """The hooks of the stages of a language model. place: its key in corpus.yaml."""

    place: str
    values: Mapping[str, Any]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        name = self.values["name"]
        found = {f"language_models.{name}.order": self.values["order"]}
        if file := self.run_options(settings)["tokenizer"]:
            found[file["digest"]] = outside_digest(file["place"], [file["path"]])
        return found

    @override
    def run_options(self, settings: Values) -> Values:
        name = self.values["name"]
        (path,) = (one["tokenizer"] for one in settings["language_models"] if one["name"] == name)
        if path is None:
            return {"tokenizer": None}
        place, digest = f"{self.place}.tokenizer", f"language_models.{name}.tokenizer"
        return {"tokenizer": {"path": path, "place": place, "digest": digest}}


@dataclass(frozen=True)
class CountedHooks(ModelHooks):
    """The hooks of the n-grams of shards: which sources are learned from is in their recipes."""

    @override
    def source_parameters(self, source: Values) -> Values:
        return {LEARNED: source["name"] in self.values["sources"]}


@dataclass(frozen=True)
class TrainedHooks(ModelHooks):
    """The hooks of a trained model. `prune` in its recipe has a number for each length."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        found, name, given = super().derived_parameters(settings), self.values["name"], self.values["prune"]
        filled = [*given, *given[-1:] * (self.values["order"] - len(given))]
        return {**found, f"language_models.{name}.prune": filled}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        for statistics in (partition.record.statistics for partition in partitions):
            usual = statistics.get(USUAL, [])
            pruned = sum(statistics.get(PRUNED, {}).values())
            rare = f" ({pruned:,} rarer ones left out)" if pruned else ""
            lengths = f"; counts are too few for discounts of their own (lengths: {', '.join(map(str, usual))})"
            yield (
                f"language model {self.values['name']}: {statistics['words']:,} words and {statistics['rows_out']:,} "
                f"n-grams{rare}, from {statistics['tokens']:,} tokens{lengths if usual else ''}"
            )


def language_model_stages(sections: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """Yields the stages of all language models."""
    for number, values in enumerate(sections):
        name, place = values["name"], f"language_models.{number}"
        yield Stage(
            name=_counted_asset(name),
            group=GROUP,
            unit_in="documents",
            unit_out="documents",
            description=f"The n-grams of a shard's texts, with counts, for the language model {name}.",
            partitioning=Partitioning.SHARD,
            compute=partial(ngrams, name=name),
            code_version="1",
            io="arrays",
            inputs=(same("normalized_documents", segment=TEXTS),),
            hooks=CountedHooks(place, values),
            columns={
                "words": f"uint64 ({values['order']},): hashes of words; 0 before the begin of a line",
                "count": "uint64: how often",
            },
            kinds=("numpy",),
        )
        yield Stage(
            name=model_asset(name),
            group=GROUP,
            unit_in="n-grams",
            unit_out="n-grams",
            description="A language model, smoothed by modified Kneser-Ney, in ARPA.",
            partitioning=Partitioning.NONE,
            compute=partial(train, name=name, counted=_counted_asset(name)),
            code_version="2",
            io="records",
            inputs=(every(_counted_asset(name), folded=True),),
            hooks=TrainedHooks(place, values),
            kinds=("arpa",),
        )


def language_model_taggers(sections: Iterable[Mapping[str, Any]]) -> Iterator[Tagger]:
    """Yields the tagger of each language model."""
    for values in sections:
        yield Tagger(
            values["name"],
            perplexity,
            version="1",
            gives="`perplexity`: by a language model that is trained on sources",
            source="Heafield et al. 2013 (KenLM)",
            types=(PERPLEXITY,),
            extra="kenlm",
            wheels=("kenlm", "sentencepiece") if values["tokenizer"] else ("kenlm",),
            asset=model_asset(values["name"]),
            read=read_trained,
        )
