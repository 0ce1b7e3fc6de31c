"""Chat templates by name: `chat_template: qwen3` is this project's own template for that model family.

They lie in `templates/`, a file for each. Each gives the same text as the model's own template, within the limits in
docs/datasets.md.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

READY: Final[Mapping[str, tuple[str, ...]]] = {
    "alpaca": (),
    "chatml": ("<|im_start|>", "<|im_end|>"),
    "deepseek_v3": ("<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
    "gemma3": ("<start_of_turn>", "<end_of_turn>"),
    "gpt_oss": ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>"),
    "llama3": ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "mistral": ("[INST]", "[/INST]"),
    "qwen3": ("<|im_start|>", "<|im_end|>"),
}
"""The control tokens that every conversation needs, by the name of the template that writes them."""


@cache
def ready_template(name: str) -> str:
    """Returns the template of a name of `READY`."""
    folder = files("corpus_assets.config") / "templates"
    return (folder / f"{name}.jinja").read_text(encoding="utf-8")


def template_in_place(given: str) -> str | None:
    """Returns the template that a configuration holds as text or by name; None if it holds a path."""
    if given in READY:
        return ready_template(given)
    return given if "{{" in given or "{%" in given else None
