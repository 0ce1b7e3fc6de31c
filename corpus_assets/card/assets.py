"""The stage of the papers: present if corpus.yaml has a section `card`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.card.counting import CARD, GRAPH, ORIGINS, PASS_1, SPLITS, STEPS, facts_of
from corpus_assets.card.croissant import croissant
from corpus_assets.card.dataset_card import dataset_card
from corpus_assets.card.facts import Written
from corpus_assets.card.spdx import spdx
from corpus_assets.card.steps import steps
from corpus_assets.card.training_summary import training_summary
from corpus_assets.config.datasets.masked import has_parts
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.config.datasets.token_files import reads_tokens
from resources.stage.declaration import Partitioning, Stage, every
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

NAME, FOLDER = "data_card", "card"
_MOST = 6


def card_stages(settings: Values, stages: Sequence[Stage]) -> list[Stage]:
    """Returns the stage, which reads the given stages with counts; none without a card.

    settings: plain values of corpus.yaml.
    """
    if settings["card"] is None:
        return []
    graph = _graph(settings, {stage.name for stage in stages})
    return [
        Stage(
            name=NAME,
            group="report",
            unit_in="partitions",
            unit_out="papers",
            description="Papers: Croissant, a dataset card, SPDX, and the EU summary of training content.",
            partitioning=Partitioning.NONE,
            compute=data_card,
            code_version="2",
            io="records",
            inputs=tuple(every(name, folded=True) for name in graph["reads"]),
            hooks=CardHooks(graph),
            kinds=("json", "markdown"),
        )
    ]


def data_card(task: Task) -> None:
    """Writes the four papers, and a list of texts that people still have to write."""
    facts = facts_of(task)
    said = Written(facts.card)
    task.save_json(f"{FOLDER}/croissant.json", croissant(facts, said), rows=1)
    task.save_bytes(f"{FOLDER}/README.md", dataset_card(facts, said).encode())
    task.save_json(f"{FOLDER}/spdx.json", spdx(facts, said), rows=1)
    task.save_bytes(f"{FOLDER}/training-content-summary.md", training_summary(facts, said).encode())
    task.save_json(f"{FOLDER}/to-be-written.json", said.missing, rows=len(said.missing))
    task.count(rows_out=4, to_be_written=len(said.missing), still_missing=_first(list(said.missing)))


def _first(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _MOST:,} more" if len(keys) > _MOST else ""
    return ", ".join(keys[:_MOST]) + more


@dataclass(frozen=True)
class CardHooks(Hooks):
    """The hooks of the papers. graph: the facts about it that they need."""

    graph: Values

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {CARD: settings["card"], GRAPH: self.graph, STEPS: steps(settings)}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        for numbers in (one.record.statistics for one in partitions):
            if numbers.get("to_be_written"):
                yield (
                    f"data card: people still have to write {numbers['to_be_written']} things, which {FOLDER}/ marks: "
                    f"{numbers['still_missing']}"
                )


def _graph(settings: Values, known: set[str]) -> dict[str, Any]:
    """Returns the facts about the graph for the papers, and the assets they read."""
    datasets = [
        {
            "name": entry["name"],
            "format": entry.get("format") or "hdf5",
            "input": entry["input"] if isinstance(entry["input"], str) else "",
            "tokens": names.files(entry),
        }
        for entry in settings["datasets"]
    ]
    files = [
        {
            "name": entry["name"],
            "licence": entry["input"].get("licence"),
            "examples": names.token_stream(names.own_stream(entry["name"]))
            if reads_tokens(entry)
            else names.examples(entry["name"]),
            "tokens": names.files(entry) if is_text(entry) else _counted(entry["name"], known),
        }
        for entry in settings["datasets"]
        if isinstance(entry["input"], Mapping)
    ]
    of_train = [one["name"] for one in datasets if one["input"] == "decontaminated_train" and not is_text(one)]
    of_parts = [entry["name"] for entry in settings["datasets"] if has_parts(entry) and _reads_train(entry, of_train)]
    trains = [_counted(name, known) for name in (*of_train, *of_parts)]
    tokenizer = names.SHARED_TOKENIZER if names.SHARED_TOKENIZER in known else ""
    read = [PASS_1, *SPLITS, *trains, *(one["tokens"] for one in datasets), *_of_files(files), tokenizer, ORIGINS]
    return {
        "name": settings["name"],
        "is_sample": settings["sample"] is not None,
        "sources": [{key: source[key] for key in ("name", "licence", "licence_key")} for source in settings["sources"]],
        "datasets": datasets,
        "files": files,
        "trains": trains,
        "tokenizer": tokenizer,
        "tokenizer_kind": settings["tokenizer"]["kind"],
        "reads": [name for name in dict.fromkeys(read) if name in known],
    }


def _reads_train(entry: Mapping[str, Any], of_train: Collection[str]) -> bool:
    """Returns whether a part of a dataset is made of the train split."""
    parts = entry["parts"].values()
    return any(part["input"] == "decontaminated_train" or part["dataset"] in of_train for part in parts)


def _counted(dataset: str, known: set[str]) -> str:
    """Returns the asset whose records count tokens by source: the rows before they are shuffled, if they are."""
    return names.sequences(dataset) if names.sequences(dataset) in known else names.tokens(dataset)


def _of_files(files: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for one in files:
        yield from (one["examples"], one["tokens"])
