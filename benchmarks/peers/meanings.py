"""Runs in an environment that has semhash: which documents it removes, with the vectors that wordllama's wheel brings.

Arguments: the threshold; the file to write, a JSON list of ids; then files of documents (`jsonl.gz`) in the order of
the corpus. Exact copies go too. Texts are not cut, as ours are not.
"""

import gzip
import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    semhash, model2vec = import_module("semhash"), import_module("model2vec")
    safetensors, tokenizers = import_module("safetensors.numpy"), import_module("tokenizers")
    threshold, out = float(sys.argv[1]), Path(sys.argv[2])
    records = []
    for name in sys.argv[3:]:
        with gzip.open(name, "rb") as lines:
            rows = map(json.loads, lines)
            records += [{"id": row["id"], "text": row["text"]} for row in rows]
    spec = find_spec("wordllama")
    folder = Path(next(iter((spec and spec.submodule_search_locations) or [])))
    vectors = safetensors.load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    model = model2vec.StaticModel(vectors, tokenizer, normalize=True, max_length=None)
    found = semhash.SemHash.from_records(records, columns=["text"], model=model).self_deduplicate(threshold)
    out.write_text(json.dumps(sorted(one.record["id"] for one in found.filtered)))


if __name__ == "__main__":
    main()
