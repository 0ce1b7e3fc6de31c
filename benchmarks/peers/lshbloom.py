"""LSHBloom (Khan and others 2024), as the package spark-lshbloom has it: which documents stay, with one Spark worker.

It looks a document up among those of earlier chunks, so copies in one chunk stay; there are 16. It says what it keeps,
not what resembles what.
"""

from pathlib import Path

from pyspark.sql import SparkSession  # type: ignore[import-not-found]
from spark_lshbloom import SparkLSHBloom  # type: ignore[import-not-found]

from benchmarks.peers.exchange import PERMUTATIONS, THRESHOLD, Result, raw_files, read_documents, serve

BANDS = 16


def run(raw: Path, work: Path) -> Result:
    """Ids of removed documents."""
    session = SparkSession.builder.master("local[1]").config("spark.local.dir", str(work)).getOrCreate()
    frame = session.read.json([str(file) for file in raw_files(raw)]).select("id", "text")
    index = SparkLSHBloom(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
    kept = {row["id"] for row in index.deduplicate(frame, text_col="text", id_col="id").select("id").collect()}
    return [name for name, _ in read_documents(raw) if name not in kept]


if __name__ == "__main__":
    serve(run)
