"""Simple English Wikipedia as a stand-in of the hub has it, for the tutorial: its columns, and texts of Python."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.raw.sample.writing import write_sample

REPOSITORY = "wikimedia/wikipedia"
FILE = "20231101.simple/train-00000-of-00001.parquet"
RIVERS = ("Loire", "Rhône", "Seine", "Marne", "Oise", "Lot")


def _texts(folder: Path) -> Iterator[str]:
    """Texts of the sample corpus, articles made from one template as some are, and stubs."""
    write_sample(folder, megabytes=2)
    for path in sorted((folder / "packages").glob("*.jsonl")):
        yield from (json.loads(line)["body"] for line in path.read_text(encoding="utf-8").splitlines())
    for path in sorted((folder / "modules").glob("*.parquet")):
        yield from pq.read_table(path, columns=["text"]).column(0).to_pylist()
    body = (
        "The town lies on the river {river}. People have lived here since the Romans built a bridge, and a market was "
        "held below the castle every autumn. After the war most of the houses by the water were built again in stone, "
        "and a museum shows how wine was made, carried on boats to the sea and sold to merchants from the north. Today "
        "many people come in summer to see the old gardens, to walk along the hills and to swim in the lake nearby. "
        "It has a railway station, two schools, a small hospital and a library. There are {count} people in it."
    )
    for number in range(60):
        yield f"Town {number} is a town in France. " + body.format(river=RIVERS[number % 6], count=1000 + number)
        yield f"Asteroid {number} is a minor planet in the belt between Mars and Jupiter."


def parquet_file(folder: Path) -> bytes:
    """The file as it lies on the hub. folder: where the sample corpus may be written."""
    rows = [
        {"id": str(number), "url": f"https://simple.wikipedia.org/wiki/{number}", "title": text[:24], "text": text}
        for number, text in enumerate(_texts(folder))
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()
