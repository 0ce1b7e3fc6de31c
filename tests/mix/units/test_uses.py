"""Copies by a score, exact by keyed hash, and orders by a score over all chunks."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.selection.mixing import Mix
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.documents import Documents
from corpus_assets.export.mixture import mixed
from corpus_assets.export.weights.stored import stored_mix
from corpus_assets.mix.units.uses import uses_of
from corpus_assets.tracing.look import Look
from resources.documents.quantiles import counted, quantiles
from resources.hashing import keyed_hash
from tests.build.small import drive, opened
from tests.export.exported import partitions
from tests.mix.units.buckets import configure, rows
from tests.tracing.ways import all_ways, ends_of, recorded

QUALITY = "metadata.scores.quality"
SCORES = st.one_of(st.none(), st.floats(-1e6, 1e6))


def scores() -> dict[str, float | None]:
    """The score of each document by id; None without one."""
    found: dict[str, float | None] = {}
    for source, count in (("books", 260), ("web", 420)):
        found |= {row["id"]: row["metadata"].get("scores", {}).get("quality") for row in rows(source, count)}
    return found


def built(folder: Path, upto: str, **mix: Any) -> Corpus:
    configure(folder, "source", None, **{f"mix.{key}": value for key, value in mix.items()})
    corpus = opened(folder)
    assert drive(corpus, corpus.graph.select([f"+{upto}"])).failed == []
    return corpus


def test_copies_are_exact(tmp_path: Path) -> None:
    """Each document is used as often as the points say, the fraction of a copy by its own hash."""
    points = [[-2, 0], [0, 0.5], [2, 3]]
    corpus = built(tmp_path, "mixed_pass2", copies={"by": QUALITY, "points": points, "most": 2.5, "missing": 0.25})
    used = Counter(document.id for chunk in partitions(corpus, "mixed_pass2") for document in chunk.documents())
    for identifier, score in scores().items():
        if score is None:
            times = 0.25
        else:
            slope = (score + 2) * 0.25 if score < 0 else 0.5 + score * 1.25
            times = min(2.5, max(0.0, min(slope, 3)))
        source = identifier.partition("-")[0]
        more = keyed_hash("epoch", 0, source, identifier) < (times - int(times)) * 2.0**64
        assert used[identifier] == int(times) + more


def test_another_document_moves_none(tmp_path: Path) -> None:
    """Copies depend on nothing but a document's own score: without a shard the others are used as before."""
    copies = {"by": QUALITY, "points": [[-2, 0], [4, 3]]}
    corpus = built(tmp_path, "mixed_pass2", copies=copies)
    before = {document.id for chunk in partitions(corpus, "mixed_pass2") for document in chunk.documents()}
    (tmp_path / "raw/books/1.jsonl").unlink()
    corpus = built(tmp_path, "mixed_pass2", copies=copies)
    after = {document.id for chunk in partitions(corpus, "mixed_pass2") for document in chunk.documents()}
    gone = {f"books-{number}" for number in range(1, 260, 2)}
    assert after == before - gone


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_over_all_chunks(tmp_path: Path, descending: bool) -> None:
    corpus = built(tmp_path, "train", order={"by": QUALITY, "descending": descending})
    known = scores()
    found = [known[document.id] for chunk in partitions(corpus, "mixed_pass2") for document in chunk.documents()]
    present = [score for score in found if score is not None]
    assert present == sorted(present, reverse=descending)
    assert all(score is None for score in found[len(present) :])
    sizes = [len(chunk.array(".rows.npy")) for chunk in partitions(corpus, "mixed_pass2")]
    assert max(sizes) < 1.2 * min(sizes)  # Those without a score are spread over the chunks that they fill.
    of_train = [known[document.id] for chunk in partitions(corpus, "train") for document in chunk.documents()]
    held = [score for score in of_train if score is not None]
    assert held == sorted(held, reverse=descending)


def test_phases_begin_with_the_easiest(tmp_path: Path) -> None:
    """A warm-up of a tenth of the documents, and then all others in keyed order."""
    corpus = built(tmp_path, "mixed_pass2", order={"by": QUALITY, "phases": [0.1, 0.9]})
    known = scores()
    found = [known[document.id] for chunk in partitions(corpus, "mixed_pass2") for document in chunk.documents()]
    first = len(found) // 10
    border = sorted(score for score in known.values() if score is not None)[first - 1]
    assert all(score is not None and score <= border for score in found[:first])
    rest = [score for score in found[first:] if score is not None]
    assert min(rest) > border
    assert rest != sorted(rest)


def test_the_way_of_each_document_is_known(tmp_path: Path) -> None:
    """`corpus why` finds every use of documents whose copies and places follow from scores."""
    mix = {"copies": {"by": QUALITY, "points": [[0, 0], [2, 3]]}, "order": {"by": QUALITY}}
    configure(tmp_path, "source", None, datasets=[], **{f"mix.{key}": value for key, value in mix.items()})
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+decontaminated_train", "validation", "test"])).failed == []
    ways = list(all_ways(Look(opened(tmp_path))))
    assert [step for way in ways for step in way.steps if step.status == "unknown" or step.stale] == []
    assert ends_of(ways) == recorded(corpus)
    unused = next(step for way in ways for step in way.steps if step.reason == "not_in_this_epoch")
    assert "`mix.copies` and `epochs: 1` of its source takes" in unused.words


def test_weights_keep_the_order(tmp_path: Path) -> None:
    """A dataset that uses documents repeatedly has the scores in order, once for each use."""
    weights = {"tokens": {"books": 60_000}, "max_epochs": 9}
    configure(tmp_path, "source", weights, **{"mix.order": {"by": QUALITY}, "mix.chunks": 1})
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+mix_manifest"])).failed == []
    (stream,), (mixture,) = partitions(corpus, "decontaminated_train_token_stream"), partitions(corpus, "mix_mixture")
    documents = mixed(Documents.of(stream, None, None, empty=False), stored_mix(mixture))
    first = np.flatnonzero(np.diff(documents.numbers) < 0) + 1
    runs = np.split(documents.numbers, first)
    assert len(runs) == int(np.unique(documents.numbers, return_counts=True)[1].max()) > 1
    assert all((np.diff(run) > 0).all() for run in runs)


@given(values=st.lists(SCORES, min_size=1, max_size=60), chunks=st.integers(1, 9), descending=st.booleans())
def test_places_follow_the_scores(values: list[float | None], chunks: int, descending: bool) -> None:
    """For any scores: a document with a lesser score is never in a later chunk, nor behind in the same one."""
    mix = Mix.model_validate({"chunks": chunks, "order": {"by": QUALITY, "descending": descending}})
    order = uses_of(mix, {}).order
    assert order is not None
    scored = order.scored
    assert scored.missing is not None
    table = counted([scored.missing if value is None else value for value in values])
    place = order.place(quantiles(lambda: [table], scored.shares))
    placed = [(place(value, keyed_hash("chunk", 0, str(n))), value) for n, value in enumerate(values)]
    assert all(0 <= chunk < chunks for (chunk, _), _ in placed)
    sign = -1 if descending else 1
    present = sorted((sign * value, at) for at, value in placed if value is not None)
    for (low, first), (high, second) in pairwise(present):
        assert low == high or (first[0] <= second[0] and first <= second)
