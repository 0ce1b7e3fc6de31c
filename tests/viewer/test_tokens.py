"""Token rows are shown as they are stored: every id, every position of the loss, whole characters, whose they are."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from corpus_assets.config.datasets.exports import EXPORTS, export_section
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.format import Build
from corpus_assets.tracing.from_tokens.units import unit_of
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.site import seen
from corpus_assets.viewer.token_files import files_of
from corpus_assets.viewer.tokens.text import cells
from resources.formats.hdf5.reader import read_hdf5
from tests.build.small import drive, opened, prose, write_raw, write_small
from tests.export.exported import partitions, tokenizer_of
from tests.export.test_every_format import dataset

FORMATS = sorted(EXPORTS)
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TOKEN = re.compile(
    r'<span class="(t [^"]*)" title="positions? ([\d,]+)(?: to [\d,]+)?, id ([\d ]+)([^"]*)">(.*?)</span>', re.DOTALL
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("tokens")
    said = [{"role": "user", "content": "hé 🦜?"}, {"role": "assistant", "content": f"{prose(1)} 🦜🦜"}]
    datasets: list[dict[str, Any]] = [
        {"name": "packed", "mode": "lm_vsl", "input": "decontaminated_train", "sequence_length": 256},
        {
            "name": "talk",
            "mode": "chat",
            "input": {"location": "raw/talk", "messages_key": "messages"},
            "chat_template": TEMPLATE,
            "sequence_length": 512,
        },
        {
            "name": "liked",
            "mode": "dpo",
            "input": {"location": "raw/liked"},
            "sequence_length": 256,
            "chat_template": TEMPLATE,
        },
        *map(dataset, FORMATS),
    ]
    datasets[2]["chat_template"] = TEMPLATE
    tokenizer = {"kind": "train", "vocabulary": 300, "sample": 20000, "special_tokens": ["<|im_start|>", "<|im_end|>"]}
    write_small(folder, {"datasets": datasets, "tokenizer": tokenizer})
    write_raw(folder, "talk/a.jsonl", [{"id": str(n), "messages": said} for n in range(4)])
    rows = [{"id": str(n), "prompt": "why?", "chosen": prose(n, 5), "rejected": prose(-n, 5)} for n in range(3)]
    write_raw(folder, "liked/a.jsonl", rows)
    found = opened(folder)
    assert drive(found).failed == []
    return opened(folder)


@pytest.fixture(scope="module")
def client(corpus: Corpus) -> TestClient:
    return TestClient(standing_alone(corpus.file, "127.0.0.1"), base_url="http://127.0.0.1")


def tokens(page: str) -> list[tuple[str, int, list[int], str, str]]:
    """Class, first position, ids, what else is said, and text of every token of a page."""
    found = TOKEN.findall(page)
    return [
        (kind, int(at.replace(",", "")), list(map(int, ids.split())), said, html.unescape(text))
        for kind, at, ids, said, text in found
    ]


@pytest.mark.parametrize("name", ["packed", "talk"])
def test_rows_of_hdf5_are_shown_with_every_id_and_the_loss(corpus: Corpus, client: TestClient, name: str) -> None:
    for made in partitions(corpus, f"{name}_tokens"):
        file = made.file(".h5")
        with made.open(".h5") as raw, read_hdf5(raw) as rows:
            inputs = rows.features.index("input_ids")
            mask = rows.features.index("attention_mask")
            for number, row in enumerate(rows[: rows.n]):
                page = client.get(f"/corpus/tokens/{name}?file={Path(file.path).name}&row={number}").text
                shown = tokens(page)
                assert sum("in the loss" in said and "not in" not in said for _, _, _, said, _ in shown) > 0
                assert f"{int((row[mask] != 0).sum()):,} in the loss" in page
                assert page.count(" tokens, ") == 1 + page.count("<h2>sequence "), "numbers of a single one twice"
                for _, at, ids, _, _ in shown:
                    held = row[inputs][at : at + len(ids)].tolist()
                    assert ids[: len(held)] == held or ids[-1] == row[rows.features.index("labels")][at + len(ids) - 2]


def test_parrots_are_whole_and_answers_are_in_the_loss(client: TestClient) -> None:
    shown = tokens(client.get("/corpus/tokens/talk?row=0").text)
    parrots = [(ids, kind) for kind, _, ids, _, text in shown if "🦜" in text]
    assert parrots and all(len(ids) > 1 for ids, _ in parrots)
    assert {"context" in kind.split() for _, kind in parrots} == {True, False}
    controls = {text for kind, _, _, _, text in shown if "control" in kind.split()}
    assert {"<|im_start|>", "<|im_end|>"} <= controls


def test_preferences_are_side_by_side(client: TestClient) -> None:
    page = client.get("/corpus/tokens/liked?row=1").text
    assert "<h2>chosen " in page
    assert "<h2>rejected " in page


@pytest.mark.parametrize("name", FORMATS)
def test_rows_of_trainers_hold_the_ids_that_are_read_back(corpus: Corpus, client: TestClient, name: str) -> None:
    (one,) = (known for known in exported_datasets(corpus.settings.values["datasets"]) if known.name == name)
    page = client.get(f"/corpus/tokens/{name}?row=1").text
    shown = [id_ for _, _, ids, _, _ in tokens(page) for id_ in ids]
    assert shown
    assert "which document is this?" in page
    (file,) = re.findall(r"<option selected>([^<]+)</option>", page)
    files = [stored.path for made in partitions(corpus, f"{name}_tokens") for stored in made.record.files]
    path = next(path for path in files if path.endswith(f"/{file}"))
    build: Build[Any] = Build.of(name, export_section(one.values), tokenizer_of(corpus))
    with corpus.storage.open(path) as raw:
        found = [id_ for block in one.format.read(raw, build) for id_ in np.asarray(block).ravel().tolist()]
    assert any(found[at : at + len(shown)] == shown for at in range(len(found) - len(shown) + 1))


OFFSET = re.compile(
    r"Token (\d+) is at position ([\d,]+) of row ([\d,]+) of (\S+)\. (?:It is padding|<a href=\"([^\"]+)\">)"
)


def units_of(corpus: Corpus, name: str) -> list[tuple[str, int, list[int]]]:
    """File, row and ids of every row of a dataset, in the order of its files."""
    found: list[tuple[str, int, list[int]]] = []
    exports = {one.name: one for one in exported_datasets(corpus.settings.values["datasets"])}
    for file in files_of(View(corpus.file), name):
        with corpus.storage.open(file.path) as raw:
            if name not in exports:
                with read_hdf5(raw) as rows:
                    values = rows[: rows.n][:, rows.features.index("input_ids")]
                found += [(file.name, row, ids.tolist()) for row, ids in enumerate(values)]
                continue
            one = exports[name]
            build: Build[Any] = Build.of(name, export_section(one.values), tokenizer_of(corpus))
            ids = [id_ for block in one.format.read(raw, build) for id_ in np.asarray(block).ravel().tolist()]
        for row in range(file.rows):
            made = (View(corpus.file).handle(file.record), file.path, row)
            size = unit_of(corpus, name, made, 0, 1).size
            found.append((file.name, row, ids[:size]))
            ids = ids[size:]
        assert ids == [], "the rows of a file are all of it"
    return found


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ["packed", "talk", *FORMATS])
def test_a_token_offset_leads_to_the_row_and_position_of_the_token(
    corpus: Corpus, client: TestClient, name: str
) -> None:
    units = units_of(corpus, name)
    every = [(file, row, at, id_) for file, row, ids in units for at, id_ in enumerate(ids)]
    begins = np.cumsum([0, *(len(ids) for _, _, ids in units)]).tolist()
    asked = {0, 1, begins[1] - 1, begins[1], begins[len(begins) // 2], len(every) // 3, begins[-2], len(every) - 1}
    for offset in sorted(asked):
        answer = client.get(f"/corpus/tokens/{name}?token={offset}")
        assert answer.status_code == 200, answer.text[-500:]
        said = OFFSET.findall(answer.text)
        file, row, at, id_ = every[offset]
        assert said[0][:4] == (str(offset), f"{at:,}", f"{row:,}", file)
        shown = tokens(answer.text)
        assert shown == [] if "It is padding" in answer.text else (shown[0][1], shown[0][2][0]) == (at, id_)
        assert f"of {len(every):,} in all files" in answer.text
    refused = client.get(f"/corpus/tokens/{name}?token={len(every)}")
    assert refused.status_code == 400
    assert f"{len(every) - 1:,}" in refused.text


def test_the_document_of_a_token_offset_is_a_click_away(client: TestClient) -> None:
    (said,) = OFFSET.findall(client.get("/corpus/tokens/parquet?token=40").text)
    assert "reached" in client.get(html.unescape(said[4])).text


def test_the_way_back_leads_to_the_document(client: TestClient) -> None:
    page = client.get("/corpus/tokens/parquet?row=0").text
    (link, *_) = re.findall(r'href="(/corpus/why[^"]+)"', page)
    answer = client.get(html.unescape(link)).text
    assert "reached" in answer
    assert "parquet" in answer


def test_a_token_of_hdf5_leads_to_its_document(client: TestClient) -> None:
    page = client.get("/corpus/tokens/packed?row=0").text
    (link, *_) = re.findall(r'href="(/corpus/why[^"]+)"', page)
    assert "normalized_documents" in client.get(html.unescape(link)).text


def test_the_table_has_every_channel(corpus: Corpus, client: TestClient) -> None:
    page = client.get("/corpus/tokens/packed?row=0&as=table").text
    for name in ("position", "input_ids", "loss mask", "labels", "attention_span", "position_ids"):
        assert f">{name}</th>" in page
    assert page.count("<tr>") == 257


@given(st.text(max_size=60))
def test_cells_hold_every_id_once_and_the_text(corpus: Corpus, text: str) -> None:
    tokenizer = tokenizer_of(corpus)
    ids = tokenizer.encode_plain([text.encode("utf-8", "ignore").decode()]).ids
    found = list(cells(ids, tokenizer.decode, set()))
    assert [id_ for cell in found for id_ in cell.ids] == ids.tolist()
    assert "".join(cell.text for cell in found) == seen(tokenizer.decode(ids))
    assert [cell.first for cell in found] == np.cumsum([0, *(len(cell.ids) for cell in found)])[:-1].tolist()
