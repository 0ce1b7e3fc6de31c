"""Searches token files for the texts of documents that lists name.

Token files hold no names, so the texts are tokenized as in each dataset, and their ids are searched.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from corpus_assets.absence.result import Absence, Found
from corpus_assets.absence.texts import NamedText, Names, named_texts
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.takedown.passages import SHORTEST, Ids, Passages, Whole
from corpus_assets.tracing.token_files import Group, OtherTokenizerError, TokenFile, groups_of
from resources.formats.examples import decode_example, example_texts
from resources.planning.planner import Planner

_BATCH = 1 << 24
"""Code points of texts in a batch; all token files are read once for each batch."""

Held = dict[bytes, set[Found]]
"""Rows that hold a passage, by the ids of the passage."""


def search_tokens(corpus: Corpus, planner: Planner, names: Names, files: Sequence[TokenFile], result: Absence) -> None:
    """Adds to the result the pieces of named documents in token files, and files that could not be searched.

    Files of datasets outside the configuration are left out.
    """
    groups = list(groups_of(corpus, files))
    for place, batch in enumerate(_batches(named_texts(corpus, planner, names, result)) if groups else ()):
        result.texts += len(batch)
        for group in groups:
            if group.encode is not None:
                _search(corpus, names, group, batch, result)
            elif not place:
                result.unproven += [_without_tokenizer(one) for one in group.files]


def _batches(texts: Iterable[NamedText]) -> Iterator[list[NamedText]]:
    batch: list[NamedText] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text.text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _search(opened: Opened, names: Names, group: Group, texts: Sequence[NamedText], result: Absence) -> None:
    """Adds to the result the rows that hold passages of the texts, except passages of kept documents."""
    encode = group.encode
    assert encode is not None
    ids = [next(encode([text.text]), np.empty(0, np.int32)) for text in texts]
    result.too_short += sum(len(one) < SHORTEST for one in ids)
    passages, held = Passages(ids), Held()
    for one in group.files:
        try:
            result.token_rows += _find(one, group, passages, (ids, texts), held)
        except OtherTokenizerError:
            result.unproven.append(_without_tokenizer(one))
    if held:
        _settle(held, encode(_kept_texts(opened, names, group)), result)


def _find(
    one: TokenFile, group: Group, passages: Passages, wanted: tuple[Sequence[Ids], Sequence[NamedText]], held: Held
) -> int:
    """Adds the rows of a file that hold passages; returns how many rows it has. wanted: ids, and texts of the same."""
    ids, texts = wanted
    rows = 0
    for first, block in group.read(one):
        rows = first + (block.shape[1] if group.is_one_row else len(block))
        for found in passages.find(block):
            passage, named = ids[found.text][found.place :][: found.length].tobytes(), texts[found.text]
            row = first + (found.column if group.is_one_row else found.row)
            place = Found(one.partition, one.file.path, row, named.id, named.where, found.length)
            held.setdefault(passage, set()).add(place)
    return rows


def _settle(held: Held, kept_ids: Iterable[Ids], result: Absence) -> None:
    """Adds the rows to the result, once for every document; passages of kept documents are counted separately."""
    passages = list(held)
    search = Whole([np.frombuffer(passage, np.int32) for passage in passages])
    kept: set[int] = set()
    for ids in kept_ids:
        kept |= search.find(ids)
    leaks: dict[tuple[str, int, str], Found] = {}
    shared: set[tuple[str, int, str]] = set()
    for number, passage in enumerate(passages):
        for found in held[passage]:
            place = (found.file, found.row, found.id)
            if number in kept:
                shared.add(place)
            elif place not in leaks or leaks[place].tokens < found.tokens:
                leaks[place] = found
    result.found += sorted(leaks.values(), key=lambda found: (found.file, found.row, found.id))
    result.shared += len({(file, row) for file, row, _ in shared - leaks.keys()})


def _kept_texts(opened: Opened, names: Names, group: Group) -> Iterator[str]:
    """Yields the texts in the files, without those of named documents."""
    made_of = [(record, own) for asset, own in group.made_of for record in opened.records(asset).values()]
    for record, own in made_of:
        partition = opened.handle(record)
        if own:
            for example in map(decode_example, partition.lines()):
                if names.entry_of_example(example) is None:
                    yield from example_texts(example)
        else:
            for document in partition.documents():
                if names.entry(document, [document.text]) is None:
                    yield document.text


def _without_tokenizer(one: TokenFile) -> str:
    return f"{one.partition}: {one.file.path}: the tokenizer of its ids is not in the store"
