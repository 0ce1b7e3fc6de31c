"""The pages about trainers: their configurations are valid, and what they read with numpy alone reads what is built."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from docs.generate import FOLDER
from tests.export.exported import encoded, exported, tokenizer_of

PAGES = ("datatrove", "llm.c", "nanogpt", "olmo-core", "ragged", "torchtitan")


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of a page."""
    text = (FOLDER / "trainers" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_reads_is_what_was_built(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, *_ = blocks(page, "yaml")
    corpus = exported(tmp_path, *yaml.safe_load(settings)["datasets"])
    eos = tokenizer_of(corpus).eos_id
    chunks = list(encoded(corpus).values())
    stream = [id_ for ids_of in chunks for ids in ids_of for id_ in (*ids, eos)]
    (tmp_path / "CORPUS").symlink_to(tmp_path / "corpus", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    (code,) = (block for block in blocks(page, "python") if "import numpy" in block and "torch" not in block)
    exec(code, found)
    if page == "ragged":
        assert found["document"].tolist() == chunks[0][7]
    elif "documents" in found:
        expected = [ids for ids_of in chunks for ids in ids_of] if page == "torchtitan" else chunks[0]
        assert [one.tolist() for one in found["documents"]] == [[*ids, eos] for ids in expected]
    else:
        before = [id_ for ids_of in chunks for ids in ids_of for id_ in (eos, *ids)]
        np.testing.assert_array_equal(found["ids"], before if page == "llm.c" else stream)
