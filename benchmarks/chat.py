"""Conversations to rows with masks, in MB of text per CPU-second: `python -m benchmarks.chat [--quick] [--json]`.

Conversations of generated texts, four turns of 1,000 characters each, through the ready template `chatml` and GPT-2's
tokenizer, if it lies beside the checkout, else one of bytes: ids, what is learned of them, and packed rows of 8,192.
The process that renders counts too. `mb_per_cpu_s` is what one more MB costs, told from two sizes.
`apply_chat_template` is transformers with `return_assistant_tokens_mask=True` on an even sample of the same
conversations, if it is installed; it makes no rows.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # One core for everyone; read when the libraries load.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import psutil

from benchmarks.minhash import load_texts
from benchmarks.printed import printed
from benchmarks.small_datasets import LARGE, MARKERS, bytes_tokenizer, with_markers
from benchmarks.turns import seconds_of
from corpus_assets.config.datasets.modes import ChatDataset
from corpus_assets.config.ready_templates import template_in_place
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.backends import accelerate
from corpus_assets.tokenize.modes.chat.chat import chat_control, chat_vsl_rows
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from resources.formats.examples import Example
from resources.processes.collector import calm_collector

MEGABYTES, QUICK_MEGABYTES = (4, 20), (1, 3)
TURN, TURNS = 1000, 4
SAMPLE = 16
ROLES = ("user", "assistant")
SECTION = ChatDataset(name="measured", mode="chat", input={"location": "x"}, sequence_length=8192)  # type: ignore[arg-type]
TEMPLATE = template_in_place("chatml") or ""
MARKED = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\\n' }}"
    "{% endfor %}"
)
"""The same template, with the marks that transformers needs."""


def conversations(texts: Sequence[str], size: int) -> list[Example]:
    """As many conversations as have this many bytes of text."""
    found, held = list[Example](), 0
    while held < size:
        for text in texts:
            pieces = [text[start : start + TURN] for start in range(0, len(text), TURN)]
            for first in range(0, len(pieces) - TURNS + 1, TURNS):
                turns = pieces[first : first + TURNS]
                messages = [{"role": ROLES[n % 2], "content": turn} for n, turn in enumerate(turns)]
                found.append(Example(str(len(found)), "measured", messages=messages))
                held += sum(len(turn.encode()) for turn in turns)
                if held >= size:
                    return found
    return found


def tokenizer_json() -> str:
    """GPT-2's tokenizer with the markers of turns, or one of bytes."""
    return with_markers(json.loads(LARGE.read_bytes()) if LARGE.is_file() else bytes_tokenizer(), 0)


def rows_seconds(examples: Sequence[Example], tokenizer: LoadedTokenizer) -> float:
    """CPU seconds of this process and of the one that renders, from examples to packed rows."""
    renders = _children()
    fast = accelerate(tokenizer.with_control(chat_control(SECTION, tokenizer, TEMPLATE)), "auto", [])
    tools = Tools(fast, Statistics(), TEMPLATE)
    spent = seconds_of(lambda: [None for _ in chat_vsl_rows(SECTION, examples, tools)])
    assert not tools.statistics.discarded_documents, tools.statistics.discarded_documents
    return spent + _children() - renders


def _children() -> float:
    times = (child.cpu_times() for child in psutil.Process().children(recursive=True))
    return float(sum(time.user + time.system for time in times))


def measured_tokenizer() -> LoadedTokenizer:
    """The same, loaded."""
    files = {"tokenizer.json": tokenizer_json().encode()}
    return load_tokenizer(files, TokenizerSpec("tokenizer_json", eos=MARKERS[0]))


def measure(quick: bool) -> dict[str, Any]:
    """The rate by two sizes, and that of transformers."""
    megabytes = QUICK_MEGABYTES if quick else MEGABYTES
    texts = load_texts(max(megabytes))[0]
    tokenizer = measured_tokenizer()
    small, large = (conversations(texts, size * 10**6) for size in megabytes)
    calm_collector()  # As workers do.
    rows_seconds(small[:50], tokenizer)  # Kernels, libraries and the process that renders.
    spent = [min(rows_seconds(given, tokenizer) for _ in range(2)) for given in (small, large)]
    sizes = [sum(map(_bytes, given)) / 1e6 for given in (small, large)]
    figures: dict[str, Any] = {
        "text_mb": round(sizes[1], 2),
        "conversations": len(large),
        "mb_per_cpu_s": round((sizes[1] - sizes[0]) / (spent[1] - spent[0]), 2),
    }
    theirs = _apply_chat_template(large[::SAMPLE], tokenizer_json())
    figures["apply_chat_template_mb_per_cpu_s"] = theirs
    figures["ratio_vs_apply_chat_template"] = theirs and round(figures["mb_per_cpu_s"] / theirs, 1)
    if theirs is None:
        figures["note"] = "transformers is not installed: no comparison with it"
    return figures


def _bytes(example: Example) -> int:
    return sum(len(message["content"].encode()) for message in example.messages or ())


def _apply_chat_template(examples: Sequence[Example], definition: str) -> float | None:
    """MB of text per CPU-second of transformers; None if it is not installed."""
    if find_spec("transformers") is None:
        return None
    from transformers import PreTrainedTokenizerFast

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(definition)
        theirs = PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token=MARKERS[0])
    asked = {"chat_template": MARKED, "return_assistant_tokens_mask": True, "return_dict": True}
    theirs.apply_chat_template(examples[0].messages, **asked)
    spent = seconds_of(lambda: [theirs.apply_chat_template(example.messages, **asked) for example in examples])
    return round(sum(map(_bytes, examples)) / 1e6 / spent, 2)


def main() -> None:
    printed(__doc__, measure)


if __name__ == "__main__":
    main()
