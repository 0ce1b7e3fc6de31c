"""Which calls `make faults CALLS=--each-place` takes."""

import random

from tests.faults.places import Place, one_of_each, place_of

CODE = "corpus_assets.normalize.assets.normalized_documents"


def test_partitions_and_datasets_share_a_place() -> None:
    first = place_of(CODE, "open", "corpus/documents/web/a-0a1b2c3d4e5f6071.jsonl.gz")
    assert first == (CODE, "open", "corpus/documents/*/*.jsonl.gz")
    assert place_of(CODE, "open", "corpus/documents/prose/b-1.jsonl.gz") == first
    others = [
        place_of(CODE, "read", "corpus/documents/web/a-0a1b2c3d4e5f6071.jsonl.gz"),
        place_of(CODE, "open", "corpus/documents/web/a.texts.npy"),
        place_of(CODE, "open", "corpus/documents/web/deep/a.jsonl.gz"),
        place_of("corpus_assets.raw.assets.raw_source", "open", "corpus/documents/web/a.jsonl.gz"),
        place_of("", "open", "corpus/documents/web/a.jsonl.gz"),
    ]
    assert len({first, *others}) == 6


def test_what_all_stages_do_alike_is_one_place() -> None:
    for path in ("corpus/.lock", "corpus/.tmp/x.12.a0/0", "corpus/ledger/minhashes/a.json", "corpus.yaml", "corpus"):
        assert (
            place_of(CODE, "stat", path) == place_of("corpus_assets.other", "stat", path) != place_of("", "stat", path)
        )


def test_one_call_of_each_place_is_taken_once() -> None:
    places: list[Place] = [("", "open", name) for name in "abc"]
    a, b, c = places
    seen = {c}
    found = one_of_each([a, b, a, c, b, a], seen, random.Random(1))
    assert sorted(([a, b, a, c, b, a])[number - 1] for number in found) == [a, b]
    assert seen == set(places)
    assert one_of_each([a, b], seen, random.Random(1)) == []
