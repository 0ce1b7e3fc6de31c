"""Pages for people who come from other tools: both sides are read, ours is built, and what they say is checked."""

import ast
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic import BaseModel
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from typer.testing import CliRunner

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.cli.main import app
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.file_formats import LIBRARIES
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.config.selection.band_layout import band_layout
from corpus_assets.dedup.signatures.minhash import sign
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from docs.configuration_page import models as sections_below
from docs.generate import FOLDER
from resources import Document, Text
from tests.build.small import drive, opened
from tests.forked import path_of_commands

PAGES = sorted((FOLDER / "coming-from").glob("*.md"))
OURS, PART = "# corpus.yaml", "# in corpus.yaml"
END = "<|endoftext|>"
WORDS = ("the", "of", "and", "to", "with", "river", "stone", "letter", "garden", "summer", "copper", "market", "bridge")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def ours(page: Path, beginning: str) -> list[str]:
    """Our configurations on a page: whole ones, or parts of one."""
    return [block for block in blocks(page, "yaml") if block.startswith(f"{beginning}\n")]


def theirs(page: Path) -> list[str]:
    """Configurations of the other tool."""
    return [block for block in blocks(page, "yaml") if not block.startswith((OURS, PART))]


def tables(page: Path) -> Iterator[list[str]]:
    """The cells of the rows of those tables whose second column is about this project."""
    text = page.read_text(encoding="utf-8")
    for table in re.findall(r"^\|.*\| here \| difference \|\n\|[-| ]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        for row in table.splitlines():
            yield [cell.strip() for cell in row.strip("|").split(" | ")]


def code_of_ours(page: Path) -> list[str]:
    return [code for _, here, *_ in tables(page) for code in re.findall(r"`([^`]+)`", here)]


def test_there_is_a_page_for_each_tool_with_both_sides() -> None:
    assert [page.stem for page in PAGES] == ["data-juicer", "datatrove", "dolma", "nemo-curator"]
    for page in PAGES:
        assert len(ours(page, OURS)) == 1, page
        assert blocks(page, "python") or theirs(page), page
        assert len(code_of_ours(page)) > 15, page


@every_page
def test_their_side_parses(page: Path) -> None:
    for code in blocks(page, "python"):
        assert ast.parse(code).body
    for block in theirs(page):
        assert block.startswith("# "), "say which file of which tool it is"
        assert isinstance(yaml.safe_load(block), dict)


@every_page
def test_our_side_is_valid(page: Path) -> None:
    (whole,) = ours(page, OURS)
    parse_config(yaml.safe_load(whole))
    for part in ours(page, PART):
        parse_config({"sources": [{"name": "web", "location": "raw/web"}], **yaml.safe_load(part)})


@every_page
def test_numbers_that_join_both_sides_are_on_both(page: Path) -> None:
    def numbers(code: list[str]) -> set[str]:
        return {one for block in code for found in re.findall(r"# ([\d, ]+)\b", block) for one in found.split(", ")}

    assert numbers([*blocks(page, "python"), *theirs(page)]) == numbers(ours(page, OURS)) != set()


@pytest.fixture(scope="module")
def words_of_the_schema() -> set[str]:
    """Keys of the configuration and the values that they may have."""
    sections: set[type[BaseModel]] = {CorpusConfig, *sections_below(CorpusConfig)}
    keys = {name for section in sections for name in section.model_fields}
    schema = json.dumps(CorpusConfig.model_json_schema())
    return keys | {word for found in re.findall(r'"(?:const|enum)": (\[.*?\]|".*?")', schema) for word in words(found)}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@every_page
def test_names_of_ours_in_the_tables_exist(page: Path, words_of_the_schema: set[str]) -> None:
    """Commands and links are checked with those of all pages."""
    named = [code for code in code_of_ours(page) if not code.startswith(("corpus ", ".")) and "<" not in code]
    tagger = ""
    for code in named:
        first, _, kind = code.partition(".")
        if first in BUILT_IN:
            tagger = first
            assert not kind or kind in BUILT_IN[tagger].types or not BUILT_IN[tagger].types, code
        elif ": " in code and first.split(":")[0] in CorpusConfig.model_fields:
            parse_config(
                {"sources": [{"name": "web", "location": "raw"}], **yaml.safe_load(code.replace("...", "web"))}
            )
        else:
            assert set(words(re.sub(r": [\d.]+$", "", code))) <= words_of_the_schema | STAGES | {*LIBRARIES}, code
    for code in (code for code in code_of_ours(page) if re.match(r"\.[a-zA-Z]\w+$", code)):
        if not code.startswith((".warc", ".jsonl")):
            assert any(code[1:] in one.types for one in BUILT_IN.values()), code


STAGES = {"minhashes", "duplicates", "short_documents"}
"""Assets that the tables name."""


def text_of(number: int, count: int = 60) -> str:
    chance = random.Random(number)
    return " ".join(chance.choice(WORDS) + chance.choice(["", "", "s", "er"]) for _ in range(count)) + "."


def rows() -> list[dict[str, Any]]:
    """Documents of which each page's rules keep most; with a near copy, an equal one, an address and short ones."""
    texts = [text_of(number) for number in range(40)]
    texts[3] = f"{texts[2]} Once more."
    texts[5] = texts[4]
    texts[6] = f"{texts[6]} Write to jane@mail.example now."
    texts[7] = "Too short."
    texts[8] = text_of(8, 25)
    return [{"id": f"doc-{n}", "text": text, "metadata": {"n": n}} for n, text in enumerate(texts)]


def write_input(folder: Path, config: dict[str, Any]) -> None:
    """The raw files and the tokenizer that a configuration names, in two files for each source."""
    for source in config["sources"]:
        suffix = source["glob"].rpartition("*")[2]
        place = folder / source["location"]
        place.mkdir(parents=True)
        for part, some in enumerate((rows()[:30], rows()[30:])):
            lines = "".join(f"{json.dumps(row)}\n" for row in some).encode()
            packed = gzip.compress(lines, mtime=0) if suffix.endswith(".gz") else lines
            (place / f"part-{part:02}{suffix}").write_bytes(packed)
    if "tokenizer" in config:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=[END], initial_alphabet=alphabet)
        tokenizer.train_from_iterator([row["text"] for row in rows()], trainer)
        place = folder / config["tokenizer"]["path"]
        place.parent.mkdir(exist_ok=True)
        tokenizer.save(str(place))


@every_page
@pytest.mark.slow
def test_our_side_builds_and_its_commands_run(page: Path, tmp_path: Path) -> None:
    (whole,) = ours(page, OURS)
    if "gopher_quality" in whole:
        pytest.importorskip("spacy", reason="the extra words is not installed")
    (tmp_path / "corpus.yaml").write_text(whole.replace("workers: 8", "workers: 2"))
    write_input(tmp_path, yaml.safe_load(whole))
    environment = {**os.environ, "PATH": path_of_commands(), "COLUMNS": "120"}
    for name in ("CORPUS_CONFIG", "DAGSTER_HOME"):
        environment.pop(name, None)
    (block,) = (block for block in blocks(page, "sh") if "corpus build" in block)
    run = ["bash", "-ec", block]
    done = subprocess.run(run, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "document  web/doc-3\n" in done.stdout
    assert ("it is a near-duplicate" in done.stdout) == (page.stem != "dolma"), "Dolma's toolkit has none"
    assert "stale: filter.rules." in done.stdout, "what another limit would cost"
    corpus = opened(tmp_path)
    for dataset in corpus.config.datasets:
        assert corpus.ledger.read(f"{dataset.name}_manifest", None) is not None
    record = corpus.ledger.read("filtered_documents", "web--part-00")
    assert record is not None and 0 < record.statistics["rows_out"] < 30, "the rules drop some and keep others"


@pytest.mark.slow
def test_the_stream_on_the_page_of_dolma_builds(tmp_path: Path) -> None:
    page = FOLDER / "coming-from" / "dolma.md"
    (whole,), (part,) = ours(page, OURS), ours(page, PART)
    config = {key: yaml.safe_load(whole)[key] for key in ("sources", "normalize", "engine")}
    config |= yaml.safe_load(part) | {"datasets": []}
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config))
    write_input(tmp_path, config)
    corpus = opened(tmp_path)
    assert drive(corpus).failed == []
    assert corpus.ledger.read("clean_stream", None) is not None


def found(tagger: str, text: str, kind: str) -> float:
    ((_, _, score),) = BUILT_IN[tagger].tag(Text(Document("a", text, "s")))[kind]
    return float(score)


def test_what_the_pages_call_the_same_measure_is_the_same() -> None:
    """Lengths and shares of Data-Juicer, and counts of Curator, by what their pages say that they are."""
    for text in (text_of(1), "Ab 1! é½², and \t the\u00a0the\n- [x]"):
        assert found("char_length_v1", text, "length") == len(text)
        share = sum(map(str.isalnum, text)) / len(text)
        assert found("code_redpajama_taggers_v1", text, "alnum_prop_doc") == share
        assert found("gopher_v2", text, "word_count") == len(text.split())
        common = {"the", "be", "to", "of", "and", "that", "have", "with"}
        assert found("gopher_v2", text, "required_word_count") == sum(word in common for word in text.split())


def test_signatures_of_data_juicer_are_those_of_legacy() -> None:
    """Shingles of five words, SHA-1, and permutations of one seeded generator, as its operator has them."""
    prime, generator = (1 << 61) - 1, np.random.RandomState(42)
    draws = [
        (generator.randint(1, prime, dtype=np.uint64), generator.randint(0, prime, dtype=np.uint64)) for _ in range(256)
    ]
    a, b = np.array(draws, dtype=np.uint64).T
    texts = [text_of(1), "Seven (brave) foxes - all of them GREY; ran over the hill. And they slept well!"]
    expected = []
    for text in texts:
        parts = re.sub(r"[!-/:-@\[-`{-~]", "", text.lower()).split()
        shingles = {" ".join(parts[n : n + 5]) for n in range(len(parts) - 4)}
        hashes = [int.from_bytes(hashlib.sha1(one.encode()).digest()[:4], "little") for one in shingles]
        values = (np.array(hashes, dtype=np.uint64)[:, None] * a + b) % np.uint64(prime)
        expected.append((values & np.uint64(0xFFFFFFFF)).min(axis=0))
    scheme = SignatureScheme(family="legacy", permutations=256, seed=42, width=5, unit="word")
    np.testing.assert_array_equal(np.concatenate(list(sign(texts, scheme))), expected)
    assert band_layout(0.7, 256) == (25, 10)


def test_chances_that_the_pages_give() -> None:
    assert round(1 - (1 - 0.8**8) ** 14, 2) == 0.92
    assert round(1 - (1 - 0.8**13) ** 20, 2) == 0.68
    assert round(1 - (1 - 0.8**6) ** 20, 3) == 0.998


def imported(page: str, names: list[str], folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `corpus import` makes of their side of a page, and our side."""
    path = FOLDER / "coming-from" / f"{page}.md"
    given = blocks(path, "python") or theirs(path)
    for name, block in zip(names, given, strict=True):
        (folder / name).write_text(block)
    result = CliRunner().invoke(app, ["import", page, *(str(folder / name) for name in names)])
    assert result.exit_code == 0, result.output
    (whole,) = ours(path, OURS)
    return parse_config(yaml.safe_load(result.stdout)).model_dump(), parse_config(yaml.safe_load(whole)).model_dump()


def test_the_script_on_the_page_of_datatrove_is_imported_as_the_page_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theirs_here, ours_here = imported("datatrove", ["script.py"], tmp_path)
    same = (
        "sources",
        "normalize",
        "short_documents",
        "attributes",
        "filter",
        "minhash",
        "split",
        "tokenizer",
        "engine",
    )
    for key in same:
        assert theirs_here[key] == ours_here[key], key
    assert theirs_here["dedup"]["verify"] == ours_here["dedup"]["verify"] == "none"
    assert theirs_here["mix"]["seed"] == ours_here["mix"]["seed"] == 7
    assert ours_here["datasets"][0] in theirs_here["datasets"]


def test_the_files_on_the_page_of_dolma_are_imported_as_the_page_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["tag.yaml", "dedupe.yaml", "mix.yaml", "tokens.yaml"]
    theirs_here, ours_here = imported("dolma", names, tmp_path)
    same = ("sources", "normalize", "short_documents", "attributes", "dedupers", "mix", "split", "datasets", "engine")
    for key in same:
        assert theirs_here[key] == ours_here[key], key
    assert theirs_here["filter"]["compat"] == ours_here["filter"]["compat"] == "dolma"
