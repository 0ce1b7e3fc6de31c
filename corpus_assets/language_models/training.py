"""The asset `<name>_language_model`: a model in ARPA, and the tokenizer whose pieces are its words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from corpus_assets.attributes.taggers.labels.perplexity import PERPLEXITY, perplexity_of, read_pieces
from corpus_assets.language_models.arpa import arpa
from corpus_assets.language_models.counting import GRAMS, WORDS
from corpus_assets.language_models.estimate import Estimate
from corpus_assets.language_models.tokens import Split, lines_of, split_pieces, split_words
from corpus_assets.language_models.vocabulary import Vocabulary
from resources.documents.kenlm_models import opened_model
from resources.documents.tagger import Spans, Text
from resources.errors import ConfigError
from resources.outside_files import OutsideFile, require_digest
from resources.spill import cut
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Task

USUAL: Final = "lengths_with_usual_discounts"
"""Statistic: lengths of n-grams whose discounts the counts do not say."""

PRUNED: Final = "pruned_ngrams"
"""Statistic: how many n-grams of each length `prune` left out."""

MODEL, TOKENIZER = ".arpa", ".tokenizer.model"
_LARGEST, _BLOCK = 1 << 30, 1 << 20


def train(task: Task, name: str, counted: str) -> None:
    """Writes the model; `ConfigError` if its sources have no words."""
    shards = task.inputs(counted)
    with Vocabulary(_words(shards), task.memory // 3, task.scratch) as words:
        if not len(words):
            raise ConfigError(
                f"language_models: {name}: its sources have no document with words; nothing can be learned"
            )
        _write(task, name, shards, words)
    _save_tokenizer(task, name)


def _write(task: Task, name: str, shards: Partitions, words: Vocabulary) -> None:
    rows = sum(shard.file(GRAMS).rows or 0 for shard in shards)
    order, prune = task[f"language_models.{name}.order"], task[f"language_models.{name}.prune"]
    estimate = Estimate(order, rows, task.memory, task.scratch, prune)
    for shard in shards:
        for block in cut([shard.array(GRAMS)], _BLOCK):
            estimate.add(block)
    estimate.count()
    with task.binary(f"language_models/{name}{MODEL}") as out:
        for piece in arpa(estimate, words):
            out.write(piece)
    sizes = {str(length): size for length, size in sorted(estimate.sizes.items())}
    fallback = [length for length, discounts in sorted(estimate.discounts.items()) if discounts.is_fallback]
    task.count(rows_in=rows, rows_out=sum(sizes.values()), ngrams=sizes, words=len(words))
    if fallback:
        task.count(**{USUAL: fallback})
    if pruned := {str(length): count for length, count in sorted(estimate.pruned.items()) if count}:
        task.count(**{PRUNED: pruned})
    task.count(tokens=sum(shard.record.statistics["tokens"] for shard in shards))


def _words(shards: Partitions) -> Iterator[str]:
    """Yields the words of all shards."""
    for shard in shards:
        for line in shard.lines(WORDS):
            yield msgspec.json.decode(line, type=str)


def _save_tokenizer(task: Task, name: str) -> None:
    given = task.run_options["tokenizer"]
    if given is not None:
        require_digest(given["place"], [given["path"]], task.parameters[given["digest"]])
        task.save_bytes(f"language_models/{name}{TOKENIZER}", OutsideFile(given["path"]).read(_LARGEST))


@dataclass(frozen=True)
class Trained:
    """A trained model, opened by KenLM. split: the words of a line."""

    model: Any
    split: Split


def read_trained(partition: Partition) -> Trained:
    """Returns the model that a partition holds."""
    with partition.open(MODEL) as stored:
        model = opened_model(stored, partition.file(MODEL).path)
    if not partition.has(TOKENIZER):
        return Trained(model, split_words)
    content = partition.content(TOKENIZER, keep=False)
    return Trained(model, split_pieces(read_pieces(content, partition.file(TOKENIZER).path)))


def perplexity(text: Text, model: Trained) -> Spans:
    """Returns the perplexity of a text: of the words of all its lines, and an end for each line."""
    lines = [" ".join(words) for words in lines_of(text.string, model.split)]
    return {PERPLEXITY: text.whole(perplexity_of(model.model, lines))} if lines else {}
