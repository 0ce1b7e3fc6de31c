"""What a small dataset costs: `python -m benchmarks.small_datasets [--quick] [--json]`.

Builds of chat datasets of one to three conversations, each with files and a tokenizer of its own and one of three ready
templates in turn: wall seconds, and CPU seconds of all processes, with compiled kernels. `cpu_ms_per_dataset`: what one
more costs, from 30 datasets and from 10. `large`: with tokenizers of 50,000 tokens (GPT-2's), if they lie beside the
checkout; else with tokenizers of bytes.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import yaml

from benchmarks.demo import timed_build
from benchmarks.printed import printed
from corpus_assets.tokenize.tokenizers.token_sizes import byte_level_alphabet

SIZES, QUICK_SIZES = (30, 10), (6, 3)
"""Numbers of datasets."""
LARGE = Path(__file__).resolve().parents[2] / "shared" / "tokenizers" / "gpt2" / "tokenizer.json"
MARKERS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
TEMPLATES = ("chatml", "qwen3", "llama3")
_PLAIN = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}


def bytes_tokenizer() -> dict[str, Any]:
    """A `tokenizer.json` with a token for each byte."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    vocabulary = {letter: number for number, letter in enumerate(byte_level_alphabet())}
    return {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }


def with_markers(definition: dict[str, Any], number: int) -> str:
    """The tokenizer with the markers of turns, and one token more that makes it unlike all others."""
    vocabulary = definition["model"]["vocab"]
    new = [token for token in (*MARKERS, f"<|of {number}|>") if token not in vocabulary]
    ids = {
        "<|endoftext|>": vocabulary.get("<|endoftext|>"),
        **{token: len(vocabulary) + n for n, token in enumerate(new)},
    }
    added = [{"id": id_, "content": token, **_PLAIN} for token, id_ in ids.items()]
    return json.dumps({**definition, "added_tokens": added})


def write_datasets(folder: Path, datasets: int, definition: dict[str, Any]) -> Path:
    """A corpus of small datasets and nothing else."""
    entries = []
    for number in range(datasets):
        name = f"talks{number}"
        files = folder / "raw" / name
        files.mkdir(parents=True)
        turns = [{"role": role, "content": f"{role} {number}"} for role in ("user", "assistant")]
        rows = [json.dumps({"id": f"{name}-{row}", "messages": turns}) for row in range(1 + number % 3)]
        (files / "a.jsonl").write_text("\n".join(rows) + "\n")
        path = folder / "tokenizers" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(with_markers(definition, number))
        entries.append(
            {
                "name": name,
                "mode": "chat",
                "input": {"location": f"raw/{name}", "messages_key": "messages"},
                "sequence_length": 256,
                "chat_template": TEMPLATES[number % len(TEMPLATES)],
                "tokenizer": {"kind": "tokenizer_json", "path": f"tokenizers/{name}.json", "eos": "<|endoftext|>"},
            }
        )
    config = {"name": "small", "storage": {"root": "corpus"}, "datasets": entries}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    return folder


def measure(quick: bool) -> dict[str, Any]:
    """Wall and CPU seconds of builds with one number of datasets and with another."""
    datasets, fewer = QUICK_SIZES if quick else SIZES
    definitions = {"": bytes_tokenizer()}
    if LARGE.is_file():
        definitions["large_"] = json.loads(LARGE.read_bytes())
    figures: dict[str, Any] = {"datasets": datasets}
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place, "cache")
        timed_build(write_datasets(Path(place, "compiling"), 3, definitions[""]), cache)
        for name in ("", "large_"):
            if name not in definitions:
                figures |= {f"{name}{figure}": None for figure in ("seconds", "cpu_s", "cpu_ms_per_dataset")}
                continue
            few, many = (
                timed_build(write_datasets(Path(place, f"{name}{number}"), number, definitions[name]), cache)
                for number in (fewer, datasets)
            )
            more = (many["cpu_s"] - few["cpu_s"]) / (datasets - fewer)
            figures |= {f"{name}seconds": many["seconds"], f"{name}cpu_s": many["cpu_s"]}
            figures[f"{name}cpu_ms_per_dataset"] = round(1e3 * more)
    return figures


def main() -> None:
    printed(__doc__, measure)


if __name__ == "__main__":
    main()
