"""The sample corpus: whole or absent, equal every time, readable in every format."""

import errno
import os
import sys
import sysconfig
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from corpus_assets.raw.sample import installed
from corpus_assets.raw.sample import sources as sample_sources
from corpus_assets.raw.sample import writing as sample
from corpus_assets.raw.sample.installed import OWN_NAME, Installation, InstalledFile, Origin, installation
from corpus_assets.raw.sample.writing import SampleSummary, SourceSummary, take, write_sample
from resources.errors import ConfigError, StorageError
from resources.formats.documents import Document
from tests.failing import failing

ORIGIN = Origin("demo", "1.0", "MIT")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SampleSummary]:
    root = tmp_path_factory.mktemp("sample") / "raw"
    return root, write_sample(root, megabytes=1)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """A small installation in place of the real one."""
    installed = _installation(
        tmp_path / "lib",
        {f"demo/module_{n}.py": f'# Copyright {n}\n"""Module {n}."""\n\ndef f():\n    "Does {n}."\n' for n in range(9)}
        | {"demo/LICENSE": "Do as you like.", "demo/README.md": "# Demo", "demo/fast.h": "int fast(void);\n"},
    )
    monkeypatch.setattr(sample, "installation", lambda: installed)
    return installed


def _installation(folder: Path, contents: Mapping[str, str | bytes]) -> Installation:
    files = []
    for name, content in sorted(contents.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        files.append(InstalledFile(name, path, ORIGIN))
    return Installation(standard=files, packages=files, descriptions=[(ORIGIN, "A demo.")])


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


def _open_beside(folder: Path, name: str) -> BinaryIO:
    return (folder / name).open("rb")


def _read_source(root: Path, name: str, summary: SourceSummary) -> Iterator[Document | BadRow]:
    kind = "txt_list" if summary.pattern.endswith(".txt") else "auto"
    rules = RowRules(source=name, format=kind, text_key=summary.text_key)
    for path in sorted(root.glob(summary.pattern)):
        file = RawFile(path.name, partial(_open_beside, path.parent, path.name), partial(_open_beside, path.parent))
        yield from read_documents(file, rules)


def _texts(documents: Iterator[Document]) -> list[str]:
    return [document.text for document in documents]


def test_every_row_is_read_back(written: tuple[Path, SampleSummary]) -> None:
    root, summary = written
    for name, source in summary.sources.items():
        rows = list(_read_source(root, name, source))
        documents = [row for row in rows if isinstance(row, Document)]
        assert len(documents) == len(rows) == source.documents
        assert sum(len(document.text.encode()) for document in documents) == source.text_bytes
        assert {document.source for document in documents} == {name}
        assert len({document.id for document in documents}) == len(documents)


def test_all_sources_formats_and_shards_are_there_at_a_small_size(
    written: tuple[Path, SampleSummary],
) -> None:
    root, summary = written
    shards = [path for source in summary.sources.values() for path in root.glob(source.pattern)]
    suffixes = {path.name.partition(".")[2] for path in shards}
    packed = {"jsonl", "jsonl.gz", "json.gz", "jsonl.zst"}
    assert suffixes == packed | {"jsonl.zst.tar", "parquet", "txt"}
    assert len(shards) == summary.shards == 22
    assert len(summary.sources) == 7
    assert {source.text_key for source in summary.sources.values()} == {"text", "body"}
    assert all(source.documents >= source.shards for source in summary.sources.values())
    assert 0.8e6 < summary.text_bytes < 1.3e6


def test_an_archive_has_several_members_of_no_date_and_owner(written: tuple[Path, SampleSummary]) -> None:
    for path in sorted((written[0] / "docstrings").iterdir()):
        with tarfile.open(path) as archive:
            members = archive.getmembers()
        assert len(members) == sample.MEMBERS_PER_TAR
        assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}


def test_sizes_and_scripts_vary(written: tuple[Path, SampleSummary]) -> None:
    root, summary = written
    rows = [row for name, source in summary.sources.items() for row in _read_source(root, name, source)]
    texts = [row.text for row in rows if isinstance(row, Document)]
    assert min(map(len, texts)) < 50
    assert max(map(len, texts)) > 20_000
    assert sum(not text.isascii() for text in texts) > 20
    assert Counter(texts).most_common(1)[0][1] > 1


def test_rows_say_where_they_are_from_and_name_no_folder_of_the_machine(
    written: tuple[Path, SampleSummary],
) -> None:
    root, summary = written
    library = sysconfig.get_path("stdlib")
    for name in ("code", "modules", "native", "packages"):
        for row in _read_source(root, name, summary.sources[name]):
            assert isinstance(row, Document)
            metadata = msgspec.json.decode(row.metadata)
            assert set(sample.METADATA_FIELDS) <= set(metadata)
            assert all(metadata[field] for field in sample.METADATA_FIELDS)
            assert library not in row.id + str(metadata)


def test_the_same_installation_gives_the_same_bytes(written: tuple[Path, SampleSummary], tmp_path: Path) -> None:
    root, summary = written
    assert write_sample(tmp_path / "again", megabytes=1) == summary
    assert _digests(tmp_path / "again") == _digests(root)


def test_nothing_that_is_sampled_is_imported() -> None:
    before = set(sys.modules)
    assert len(list(islice(sample_sources.docstrings(installation()), 500))) == 500
    assert not {name.partition(".")[0] for name in set(sys.modules) - before} & {
        "antigravity",
        "this",
        "idlelib",
    }


def test_a_sample_made_before_is_left_alone(tiny: Installation, tmp_path: Path) -> None:
    root = tmp_path / "raw"
    summary = write_sample(root, megabytes=1)
    added = root / "code" / "mine.jsonl"
    added.write_text('{"text": "mine"}\n')
    assert write_sample(root, megabytes=1) == summary
    assert added.exists()


def test_a_sample_of_another_size_is_replaced(tiny: Installation, tmp_path: Path) -> None:
    root = tmp_path / "raw"
    write_sample(root, megabytes=1)
    (root / "code" / "part-00.jsonl.gz").unlink()
    write_sample(root, megabytes=2)
    assert (root / "code" / "part-00.jsonl.gz").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_another_version_of_a_package_is_another_sample(
    tiny: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "raw"
    write_sample(root)
    before = (root / "sample.json").read_bytes()
    newer = replace(tiny, descriptions=[(replace(ORIGIN, version="1.1"), "A demo.")])
    monkeypatch.setattr(sample, "installation", lambda: newer)
    write_sample(root)
    assert (root / "sample.json").read_bytes() != before


@pytest.mark.parametrize("name", ["code/mine.jsonl", "code/part-00.jsonl.gz", "notes.txt"])
def test_files_of_others_are_never_replaced(tiny: Installation, tmp_path: Path, name: str) -> None:
    root = tmp_path / "raw"
    write_sample(root, megabytes=1)
    (root / name).write_text("mine")
    before = _digests(root)
    with pytest.raises(StorageError, match=f"1 files that are not the sample's own, {name}"):
        write_sample(root, megabytes=2)
    assert _digests(root) == before


@pytest.mark.parametrize(
    "occupy", [lambda root: root.write_text("mine"), lambda root: (root / "books").mkdir(parents=True)]
)
def test_a_place_that_is_taken(tiny: Installation, tmp_path: Path, occupy: Callable[[Path], object]) -> None:
    root = tmp_path / "raw"
    occupy(root)
    if root.is_file():
        with pytest.raises(StorageError, match="not the sample's own, raw"):
            write_sample(root)
        assert root.read_text() == "mine"
    else:
        assert write_sample(root).shards == 22


def test_a_manifest_that_is_none(tiny: Installation, tmp_path: Path) -> None:
    (tmp_path / "sample.json").write_text("[]")
    with pytest.raises(StorageError, match="not the manifest of a sample"):
        write_sample(tmp_path)


def test_an_interrupted_run_leaves_no_sample_and_the_next_one_makes_it(
    tiny: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, documents: object) -> None:
        raise KeyboardInterrupt

    root = tmp_path / "raw"
    with monkeypatch.context() as patch:
        patch.setattr(sample, "SOURCES", (*sample.SOURCES[:-1], replace(sample.SOURCES[-1], write=fail)))
        with pytest.raises(KeyboardInterrupt):
            write_sample(root)
    assert not root.exists()
    write_sample(root)
    assert (root / "sample.json").exists()
    assert not (tmp_path / ".raw.partial").exists()


def _installed_in(folder: Path) -> str:
    """A folder in which pip has installed one package of a module and a description."""
    described = folder / "demo-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "demo.py").write_text('"""A demo."""\n')
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n\nA demo.\n")
    (described / "RECORD").write_text("demo.py,,\ndemo-1.0.dist-info/METADATA,,\n")
    return str(folder)


def test_packages_are_found_in_a_folder_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `pip install --target` leaves them; the folder that pip uses by itself comes first, where it has packages."""
    elsewhere, empty = _installed_in(tmp_path / "libs"), tmp_path / "empty" / "site-packages"
    empty.mkdir(parents=True)
    for path in ([elsewhere], [str(empty), elsewhere], [_installed_in(tmp_path / "site-packages"), elsewhere]):
        monkeypatch.setattr(sys, "path", path)
        found = installation()
        assert [origin for origin, _ in found.descriptions] == [Origin("demo", "1.0", "unknown")]
        assert found.packages[0].path.is_relative_to(elsewhere) == (path[0] != str(tmp_path / "site-packages"))


def test_an_installation_without_packages_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(ConfigError, match=f"sample: no installed package is in {tmp_path}; valid is"):
        write_sample(tmp_path / "raw", megabytes=1)
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("megabytes", [0.0, 0.4, 65.0, -1.0, float("nan"), float("inf")])
def test_sizes_out_of_range(tmp_path: Path, megabytes: float) -> None:
    with pytest.raises(ConfigError, match=r"sample: received .* MB; valid: 0\.5 to 64\.0 MB of text"):
        write_sample(tmp_path / "raw", megabytes=megabytes)


@given(st.lists(st.text(max_size=40)), st.integers(min_value=0, max_value=600))
def test_what_is_taken_fits_the_budget(texts: list[str], budget: int) -> None:
    largest = budget // sample.LARGEST_SHARE
    documents = [Document(id=str(number), text=text, source="s") for number, text in enumerate(texts)]
    taken = list(take(documents, budget))
    usable = [document for document in documents if document.text.strip() and len(document.text.encode()) <= largest]
    assert taken == usable[: len(taken)]
    total = sum(len(document.text.encode()) for document in taken)
    assert total < budget + max(largest, 1)
    assert total >= budget or len(taken) == len(usable)


def test_texts_that_cannot_be_rows_are_passed_over(tmp_path: Path) -> None:
    contents: Mapping[str, str | bytes] = {
        "latin.py": '"""caf\xe9"""'.encode("latin-1"),
        "blank.py": " \n",
        "gone.py": "x = 1\n",
        "broken.py": "def (:\n",
        "surrogate.py": 'def f():\n    "\\ud800"\n',
        "good.py": 'class A:\n    """One."""\n    async def b(self):\n        """Two.\n\n        More."""\n',
    }
    installed = _installation(tmp_path, contents)
    (tmp_path / "gone.py").unlink()
    once = replace(installed, packages=[])
    assert sorted(_texts(take(sample_sources.docstrings(once), 1000))) == ["One.", "Two.\n\nMore."]
    code = [document.id for document in take(sample_sources.package_code(installed), 1000)]
    assert sorted(code) == ["demo/broken.py", "demo/good.py", "demo/surrogate.py"]


def test_a_licence_header_is_given_once_per_wording(tmp_path: Path) -> None:
    contents: Mapping[str, str | bytes] = {
        "a.py": "# a.py\n# Copyright 2001 X, MIT licence\n\nimport os\n",
        "b.py": "# b.py\n# Copyright 2002 X, MIT licence\n\nimport os\n",
        "c.h": "/*\n * Copyright 2003 Y\n */\n#include <a.h>\n",
        "d.h": "// Copyright 2003 Z\n#pragma once\n",
        "e.py": "# only a remark\nx = 'copyright'\n",
        "LICENSE-MIT": "Permission is granted.",
        "licensing.py": "x = 1\n",
    }
    texts = _texts(sample_sources.licences(replace(_installation(tmp_path, contents), packages=[])))
    assert texts[0] == "Permission is granted."
    assert {"Copyright 2003 Y", "Copyright 2003 Z"} < set(texts)
    assert len(texts) == 4
    assert sum("MIT licence" in text for text in texts) == 1


def test_copies_of_a_file_come_together(tmp_path: Path) -> None:
    names = [f"{folder}pkg/file_{n}.py" for n in range(20) for folder in ("", "other/_vendor/")]
    installed = _installation(tmp_path, dict.fromkeys(names, "x = 1\n"))
    order = [document.id.rpartition("/")[2] for document in sample_sources.package_code(installed)]
    assert order[::2] == order[1::2]
    assert len(set(order)) == 20


def test_module_docstrings_and_descriptions_are_package_texts(tmp_path: Path) -> None:
    contents: Mapping[str, str | bytes] = {
        "README.md": "# Read me",
        "a.py": '#!/usr/bin/env python\n\nr"""Raw \\d.\n\n    Indented."""\n',
        "b.py": 'x = """no docstring"""\n',
        "data.txt": "1 2 3",
    }
    texts = [text for text in _texts(sample_sources.package_texts(_installation(tmp_path, contents))) if text]
    assert texts == ["A demo.", "# Read me", "Raw \\d.\n\nIndented."]


def test_reference_holds_topics_and_charts_of_scripts(tmp_path: Path) -> None:
    topics = "topics = {'if': 'The if statement', 'assert': 'The assert statement'}\n"
    documents = sample_sources.reference(_installation(tmp_path, {"pydoc_data/topics.py": topics}))
    found = {document.id: document.text for document in documents}
    assert found["python/topics/if"] == "The if statement"
    assert "Д\tU+0414\tcyrillic capital letter de\n" in found["unicode/charts/cyrillic"]
    assert len(found) > 200


def test_the_real_installation_is_enough_for_every_source() -> None:
    installed = installation()
    assert not any("__editable__" in file.name or ".." in file.name for file in installed.packages)
    assert OWN_NAME not in {origin.package for origin, _ in installed.descriptions}
    assert all(file.path.is_file() for file in installed.standard)
    for source in sample.SOURCES:
        if source.texts is not sample_sources.docstrings:  # plenty, but slow to parse
            size = sum(len(document.text.encode()) for document in take(source.texts(installed), 1_000_000))
            assert size >= 900_000, source.name


@pytest.mark.parametrize(("number", "passes"), [(errno.EACCES, True), (errno.EIO, False)])
def test_a_sample_is_not_written_without_what_the_machine_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, passes: bool
) -> None:
    """It counted as the whole sample of this installation from then on."""
    (tmp_path / "lib/below").mkdir(parents=True)
    (tmp_path / "lib/below/a.py").write_text("x")
    file = InstalledFile("below/a.py", tmp_path / "lib/below/a.py", ORIGIN)
    fails = Mock(side_effect=OSError(number, os.strerror(number)))
    monkeypatch.setattr(Path, "read_bytes", fails)
    monkeypatch.setattr(sample_sources, "open", fails, raising=False)
    failing(monkeypatch, "scandir", "below", number)
    reads: list[Callable[[], object]] = [
        lambda: sample_sources._read(file),
        lambda: sample_sources._head(file),
        lambda: installed._standard_files(tmp_path / "lib"),
    ]
    for read in reads:
        if passes:
            assert not read()
        else:
            with pytest.raises(OSError, match="Input/output error"):
                read()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_folder_that_cannot_be_listed_is_not_replaced(
    tiny: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    root = tmp_path / "raw"
    write_sample(root, megabytes=0.5)
    (root / "mine").mkdir()
    (root / "mine/file.txt").write_text("mine")
    failing(monkeypatch, "scandir", "mine", number)
    with pytest.raises(OSError, match=os.strerror(number)):
        write_sample(root, megabytes=0.6)
    assert (root / "mine/file.txt").read_text() == "mine"
