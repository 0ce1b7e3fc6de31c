"""Packed digests say what a dictionary of them says, in memory, in records and in snapshots."""

import pickle
import tracemalloc
from collections.abc import Mapping

import pytest

from resources.hashing import content_digest
from resources.ledger.packed_digests import PackedDigests, digests_named, pack
from resources.ledger.records import Record, decode_record, encode_record, partition_digest
from resources.ledger.snapshots import Seen, decode_snapshot, encode_snapshot


def many(seed: str, count: int = 100) -> dict[str, str]:
    return {f"chunk-{number:04d}": content_digest(f"{seed} {number}".encode()) for number in range(count)}


def record(key: str, inputs: Mapping[str, str], segments: Mapping[str, str]) -> Record:
    return Record(
        asset="a",
        partition=key,
        recipe="r",
        digest="d",
        inputs=inputs,
        parameters={},
        code_version="1",
        files=[],
        segments=segments,
    )


def test_they_are_the_mapping_that_was_packed() -> None:
    plain = many("x")
    packed = pack(plain)
    assert isinstance(packed, PackedDigests)
    assert pack(packed) is packed
    assert list(packed.items()) == list(plain.items())
    assert (packed == plain, packed == pack(many("x")), packed == pack(many("y"))) == (True, True, False)
    assert (packed.get("chunk-0007"), packed.get("no"), packed.get("no", "")) == (plain["chunk-0007"], None, "")
    assert ("chunk-0007" in packed, "no" in packed, len(packed)) == (True, False, 100)
    with pytest.raises(KeyError, match="no"):
        packed["no"]
    assert pickle.loads(pickle.dumps(packed)) == packed
    assert partition_digest([], packed) == partition_digest([], plain)


def test_the_same_names_are_held_once() -> None:
    one, other = pack(many("x")), pickle.loads(pickle.dumps(pack(many("y"))))
    assert isinstance(one, PackedDigests)
    assert one.names is other.names


@pytest.mark.parametrize("odd", ["", "A" * 32, "0" * 31, "0" * 30 + " 0", "no digest"])
def test_few_digests_or_other_texts_stay_as_they_are(odd: str) -> None:
    few = many("x", 3)
    assert pack(few) is few
    other = {**many("x"), "odd": odd}
    assert pack(other) is other


def test_a_record_is_written_the_same_packed_or_not() -> None:
    plain = record("k", many("inputs"), many("segments"))
    packed = plain.packed()
    assert isinstance(packed.segments, PackedDigests)
    assert encode_record(packed) == encode_record(plain)
    found = decode_record(encode_record(plain))
    assert isinstance(found.inputs, PackedDigests)
    assert found == packed
    assert found.digest_of("chunk-0003") == plain.segments["chunk-0003"]
    assert found.digest_of("chunk-9999") == ""


def test_a_snapshot_has_the_names_once() -> None:
    known = {key: Seen(1, "v", record(key, {"b": "c"}, many(key)).packed()) for key in ("x", "y")}
    written = encode_snapshot(known)
    assert written.count(b"chunk-0042") == 1
    assert decode_snapshot(written) == known


def test_a_digest_takes_little_memory() -> None:
    written = [encode_record(record(str(number), {}, many(str(number), 1000))) for number in range(50)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        held = [decode_record(content) for content in written]
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(held) == 50
    assert taken < 25 * 50 * 1000


def test_one_name_is_looked_up_in_many_of_them() -> None:
    every = [pack(many("x")), {"chunk-0007": "0" * 32}, pack(many("y")), {}, pack(many("z", 40))]
    for name in ("chunk-0007", "chunk-0050", "none"):
        assert digests_named(name, every) == [digests.get(name, "") for digests in every]
