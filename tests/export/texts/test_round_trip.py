"""Any row that can be read comes back from every kind of file, or is counted as refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.export.texts.files import as_read, read_rows, write_rows
from corpus_assets.export.texts.refused import REASONS, RefusedError
from corpus_assets.export.texts.rows import Row, Rows
from resources.formats.examples import Example, decode_example, encode_example
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)
FUNCTION = st.fixed_dictionaries({"name": TEXT, "arguments": st.dictionaries(TEXT, JSON, max_size=3)})
CALLS = st.lists(st.fixed_dictionaries({"id": TEXT, "function": FUNCTION}), max_size=2)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": TEXT},
    optional={"tool_calls": CALLS, "name": JSON},
)
MESSAGES = st.lists(MESSAGE, min_size=1, max_size=3)
METADATA = st.dictionaries(st.sampled_from(["url", "tools", "system", "input", "label", "other"]), JSON, max_size=4)
SIDE = TEXT | MESSAGES
EXAMPLE = st.fixed_dictionaries(
    {"id": TEXT, "source": TEXT, "metadata": METADATA},
    optional={
        **{"text": TEXT, "messages": MESSAGES},
        **{"prompt": SIDE, "completion": SIDE, "chosen": SIDE, "rejected": SIDE},
    },
)
NEEDED = {
    "text": {"text"}, "messages": {"messages"}, "preference": {"chosen", "rejected"},
    "preference_messages": {"chosen", "rejected"}, "prompt_completion": {"prompt", "completion"},
    "instruction": {"prompt", "completion"}, "kto": {"prompt", "completion"},
    "prompt_completion_messages": {"prompt", "completion"}, "kto_messages": {"prompt", "completion"},
}  # fmt: skip


def section(rows: str, files: str) -> TextExport:
    options: dict[str, Any] = {"name": "made", "format": "text", "rows": rows, "files": files, "metadata": ["url"]}
    options |= {"input_key": "input", "label_key": "label"}
    return TextExport.model_construct(
        None, **options, message_keys=["tool_calls", "name"] if files == "parquet" else []
    )


@pytest.mark.parametrize("files", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.sampled_from(sorted(NEEDED)), values=st.lists(EXAMPLE, max_size=6))
def test_every_row_comes_back_or_is_refused(
    files: str, tmp_path: Path, rows: str, values: list[dict[str, Any]]
) -> None:
    chosen = section(rows, files)
    pairs = rows in ("prompt_completion", "instruction", "kto")
    good = [one for one in values if NEEDED[rows] <= one.keys()]
    good = [one for one in good if not pairs or (isinstance(one["prompt"], str) and isinstance(one["completion"], str))]
    examples = [decode_example(json.dumps(one, ensure_ascii=False).encode()) for one in good]
    assert [decode_example(encode_example(one)) for one in examples] == examples
    made, refused = _made(chosen, examples)
    assert len(made) + len(refused) == len(examples)
    assert set(refused) <= set(REASONS)
    storage = LocalStorage(tmp_path / "store", sync=False)
    task = Task(Given("made_texts", "part", storage, {}))
    try:
        assert write_rows(task, "exports/made/part", chosen, made) == len(made)
        task.publish()
        found = []
        if made:
            with storage.open(f"exports/made/part.{files}") as file:
                found = list(read_rows(file, files))
    finally:
        task.close()
    assert found == [as_read(row.values, chosen) for row in made]
    assert [row["id"] for row in found] == [row.id for row in made]
    if files != "parquet":
        assert found == [row.values for row in made]


def _made(chosen: TextExport, examples: list[Example]) -> tuple[list[Row], list[str]]:
    made, refused = [], []
    for one in examples:
        try:
            made.append(Rows(chosen).row(one))
        except RefusedError as error:
            refused.append(error.reason)
    return made, refused
