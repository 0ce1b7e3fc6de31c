"""What examples say of their place in a file, for docs/formats/cerebras-hdf5.md "Chunks of text"."""

import dataclasses
import io
import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.examples import ExampleRules, RawFile, read_examples, rules_of
from resources.formats.examples import Example, chunk_bytes, decode_example, encode_example
from tests.raw.test_readers import tar, zstd

TEXTS = dataclasses.replace(rules_of("lm_vsl", "s", Files(location="own").model_dump()), in_chunks=True)
ROWS = st.lists(st.sampled_from(['{"text": "good"}', '{"title": "bad"}', "no JSON", ""]), max_size=6)


def read(name: str, content: bytes, rules: ExampleRules) -> list[Example]:
    found = read_examples(RawFile(name, lambda: io.BytesIO(content), lambda path: io.BytesIO(path.encode())), rules)
    examples = [example for example in found if isinstance(example, Example)]
    assert [decode_example(encode_example(example)) for example in examples] == examples
    return examples


@given(st.lists(ROWS, max_size=4))
def test_members_are_parts_and_bad_rows_are_counted_in_each(members: Sequence[Sequence[str]]) -> None:
    archive = tar(*((f"{number % 2}.jsonl.zst", zstd("\n".join(rows).encode())) for number, rows in enumerate(members)))
    places = [
        (part, place - sum("good" in row for row in numbered[:place]))
        for part, rows in enumerate(members)
        for numbered in [[row for row in rows if row]]
        for place, row in enumerate(numbered)
        if "good" in row
    ]
    assert [(found.part, found.skipped) for found in read("a.jsonl.zst.tar", archive, TEXTS)] == places


def test_listed_texts_are_parts() -> None:
    rules = dataclasses.replace(TEXTS, format="txt_list")
    assert [found.part for found in read("list", b"one.txt\ntwo.txt\n", rules)] == [0, 1]


def test_the_size_of_messages_is_that_of_the_row() -> None:
    files = Files(location="own", messages_key="turns", content_key="said")
    talks = dataclasses.replace(rules_of("summarization_vsl", "s", files.model_dump()), in_chunks=True)
    rows: list[list[dict[str, object]]] = [
        [{"said": "hé"}, {"said": "yes"}],
        [{"from": "gpt", "value": "hi", "id": 7}],
    ]
    found = read("a.jsonl", b"\n".join(json.dumps({"turns": turns}).encode() for turns in rows), talks)
    sizes = [sum(len(f"{key}{value}".encode()) for turn in turns for key, value in turn.items()) for turns in rows]
    assert [chunk_bytes(example) for example in found] == sizes


def test_examples_that_no_chunk_is_cut_by_say_nothing_of_their_place() -> None:
    plain = dataclasses.replace(TEXTS, in_chunks=False)
    archive = tar(*((f"{name}.jsonl.zst", zstd(b'{}\n{"text": "good"}')) for name in "ab"))
    for found in read("a.jsonl.zst.tar", archive, plain):
        assert b"part" not in encode_example(found)
        assert b"skipped" not in encode_example(found)
