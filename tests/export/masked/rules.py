"""What each trainer learns of rows, in plain Python, after its own source: pairs of a context and the id to predict.

The context of a pair is what the model sees of the row: the ids of the same document up to that place. Rules are those
of TRL 1.16, transformers 5.24, axolotl 0.19, LLaMA-Factory 0.9.5, Megatron-Bridge 067f987, llm-foundry 8c8dd48 and
OLMo-core fa6c501.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Pairs = Counter[tuple[tuple[int, ...], int]]
Row = Mapping[str, list[int]]
Document = tuple[Sequence[int], Sequence[int]]
IGNORED = -100


def of_documents(documents: Iterable[Document]) -> Pairs:
    """What is to be learned of documents: every learned id, after all ids before it."""
    return Counter(
        (tuple(ids[:place]), ids[place]) for ids, learned in documents for place, one in enumerate(learned) if one
    )


def _shifted(ids: Sequence[int], labels: Sequence[int], starts: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The model's shift over a whole row: position i predicts label i + 1. starts: of the document of each position."""
    for place in range(len(ids) - 1):
        if labels[place + 1] != IGNORED:
            yield tuple(ids[starts[place] : place + 1]), labels[place + 1]


def trl(rows: Iterable[Row]) -> Pairs:
    """`padding_free`, `packing` off, `max_length` none: documents by `seq_lengths`, label -100 at every position 0."""
    found: Pairs = Counter()
    for row in rows:
        lengths, labels = row.get("seq_lengths", [len(row["input_ids"])]), [*row["labels"]]
        assert sum(lengths) == len(row["input_ids"]) == len(labels)
        starts = [sum(lengths[:n]) for n, length in enumerate(lengths) for _ in range(length)]
        for start in starts:
            labels[start] = IGNORED
        found.update(_shifted(row["input_ids"], labels, starts))
    return found


def transformers(rows: Iterable[Row]) -> Pairs:
    """The model's own loss: without an attention mask a document begins where positions do not go on."""
    found: Pairs = Counter()
    for row in rows:
        starts, last = [], None
        for place, position in enumerate(row["position_ids"]):
            starts.append(starts[-1] if last is not None and position == last + 1 else place)
            last = position
        found.update(_shifted(row["input_ids"], row["labels"], starts))
    return found


def flattening(rows: Iterable[Row]) -> Pairs:
    """`DataCollatorWithFlattening`, and axolotl's sample packing: a row is one document."""
    found: Pairs = Counter()
    for row in rows:
        labels = [IGNORED, *row["labels"][1:]]
        found.update(_shifted(row["input_ids"], labels, [0] * len(labels)))
    return found


def axolotl(rows: Iterable[Row]) -> Pairs:
    """Rows are taken for tokenized only if they have all three columns; the mask becomes 1, 2, 3 ... per row."""
    rows = list(rows)
    for row in rows:
        assert {"input_ids", "attention_mask", "labels"} <= row.keys()
        assert row["attention_mask"] == [1] * len(row["input_ids"])
    return flattening(rows)


def llama_factory(rows: Iterable[Row]) -> Pairs:
    """`neat_packing`: ids see those with the same number in the mask; 0 is padding."""
    found: Pairs = Counter()
    for row in rows:
        mask = row["attention_mask"]
        starts = [mask.index(number) for number in mask]
        assert 0 not in mask
        found.update(_shifted(row["input_ids"], row["labels"], starts))
    return found


def megatron_bridge(rows: Iterable[Row], sequence_length: int) -> Pairs:
    """Each document by itself: ids without the last predict ids without the first, where the mask of the first is 1."""
    found: Pairs = Counter()
    for row in rows:
        ids, mask, starts = row["input_ids"], row["loss_mask"], row["seq_start_id"]
        assert len(ids) == len(mask)
        assert starts[0] == 0
        assert sorted(starts) == starts
        assert all(start < len(ids) for start in starts)
        assert len(ids) - len(starts) <= sequence_length
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
            own, used = ids[start:end], mask[start:end]
            found.update((tuple(own[: n + 1]), own[n + 1]) for n in range(len(own) - 1) if used[n])
    return found


def llm_foundry(samples: Iterable[Sequence[Mapping[str, list[int]]]], eos: int | None) -> Pairs:
    """`target_responses: all`, `target_prompts: none`: turns are joined, and end-of-text is appended if it lacks."""
    found: Pairs = Counter()
    for turns in samples:
        ids: list[int] = []
        labels: list[int] = []
        for turn in turns:
            assert turn["input_ids"]
            assert turn["labels"]
            ids += [*turn["input_ids"], *turn["labels"]]
            labels += [IGNORED] * len(turn["input_ids"]) + turn["labels"]
        if eos is not None and ids[-1] != eos:
            ids.append(eos)
            labels.append(eos)
        found.update(_shifted(ids, labels, [0] * len(ids)))
    return found


def olmo(ids: Sequence[int], mask: Sequence[Any], bounds: Iterable[tuple[int, int]]) -> Pairs:
    """Labels are ids where the mask is True; the shift runs over each document of the table."""
    assert len(ids) == len(mask)
    labels = [id_ if used else IGNORED for id_, used in zip(ids, mask, strict=True)]
    found: Pairs = Counter()
    for start, end in bounds:
        own = ids[start:end]
        found.update(_shifted(own, labels[start:end], [0] * len(own)))
    return found
