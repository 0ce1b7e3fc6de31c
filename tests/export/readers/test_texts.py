"""Files of texts read by pandas and pyarrow, and by `datasets` in an environment of its own."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq
import pytest

from tests.build.small import write_small
from tests.export.exported import exported, folder_of
from tests.export.readers.environments import needs, run
from tests.export.texts.made import all_rows, dataset, write_own
from tests.export.texts.test_own_rows import ANSWER, CALLING, TOOL, USER, talk

FILES = ("jsonl", "jsonl.gz", "jsonl.zst", "parquet")


def test_pandas_and_arrow_read_every_row(tmp_path: Path) -> None:
    exported(tmp_path, *(dataset(f"as-{files}", files=files) for files in FILES))
    wanted = all_rows(tmp_path, "as-jsonl")
    for files in FILES:
        paths = sorted(folder_of(tmp_path, f"as-{files}").glob(f"*.{files}"))
        if files == "parquet":
            frames = [pd.read_parquet(path) for path in paths]
            assert [row for path in paths for row in pq.read_table(path).to_pylist()] == wanted
        else:
            frames = [pd.read_json(path, lines=True) for path in paths]
            streams = [pa.input_stream(path) for path in paths]  # Decompresses by suffix.
            if files != "jsonl.zst":
                assert [row for one in streams for row in pyarrow.json.read_json(one).to_pylist()] == wanted
        assert [row for frame in frames for row in frame.to_dict("records")] == wanted


@pytest.mark.parametrize("name", [needs("hugging-face")])
def test_datasets_reads_rows_and_nested_values(tmp_path: Path, name: str) -> None:
    write_small(tmp_path)
    rows = [talk(USER, ANSWER), talk(USER, CALLING, tools=[TOOL])]
    write_own(tmp_path, "talks", rows)
    given = ({"input": {"location": "own/talks", "messages_key": "messages"}, "rows": "messages"} for _ in FILES)
    table = {"message_keys": ["tool_calls"]}
    sets = [
        *(dataset(f"t-{files}", files=files) for files in FILES),
        *(
            dataset(f"m-{files}", files=files, **one, **(table if files == "parquet" else {}))
            for files, one in zip(FILES, given, strict=True)
        ),
    ]
    exported(tmp_path, *sets)
    found = run(name, "files", [["text", str(folder_of(tmp_path, one["name"]))] for one in sets], tmp_path)
    for one, rows in zip(sets, found, strict=True):
        written = [
            {key: value for key, value in row.items() if value is not None} for row in all_rows(tmp_path, one["name"])
        ]
        assert rows == written, one["name"]
