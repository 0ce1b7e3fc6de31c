"""Random conversations for chat templates: systems, tools, calls, answers of tools, reasoning, spelled markers."""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from resources.formats.examples import Messages

ID = "abcdefghi"
NAMES = st.sampled_from(["now", "find", "add"])
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-9, 9), st.sampled_from(["UTC", "a b", 'é"', "x\ny"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("kl"), inner, max_size=2)),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "array", "object"])
SCHEMAS = st.fixed_dictionaries(
    {"type": TYPES}, optional={"description": st.just("What it is."), "default": st.just("x")}
)
PARAMETERS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3),
        "required": st.sampled_from([["a"], []]),
    }
)


@dataclass(frozen=True)
class Family:
    """What the conversations of a model family may hold.

    markers: control tokens that somebody may spell. calls: the most tool calls in a message; rounds: of calls before an
    answer. reasoning: the key of an answer's reasoning. tools: whether they are told. arguments: whether those of calls
    are JSON text. beside: whether a call may have text beside it.
    """

    markers: tuple[str, ...]
    calls: int = 0
    rounds: int = 1
    reasoning: str | None = None
    tools: bool = False
    text_arguments: bool = False
    beside: bool = False


def texts(markers: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Texts that begin and end with no white space, some with spelled markers."""
    words = st.sampled_from(["hello", "world", "é", "日本", "x\ny", "  ", "\n\n", "{a}", '"q"', "1234", "🙂", "<", "."])
    parts = st.one_of(words, st.sampled_from(markers)) if markers else words
    return st.lists(parts, min_size=1, max_size=6).map(" ".join).map(str.strip).filter(bool)


@st.composite
def conversations(draw: st.DrawFn, family: Family) -> tuple[Messages, dict[str, Any]]:
    """Messages that end with an answer, and what a row says beside them."""
    text = texts(family.markers)
    messages: Messages = [{"role": "system", "content": draw(text)}] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(text)})
        for _ in range(draw(st.integers(0, family.rounds)) if family.calls else 0):
            messages += draw(_round(family))
        answer: dict[str, Any] = {"role": "assistant", "content": draw(text)}
        if family.reasoning and draw(st.booleans()):
            answer[family.reasoning] = draw(text)
        messages.append(answer)
    tools = draw(st.lists(_tools(), min_size=1, max_size=2)) if family.tools and draw(st.booleans()) else None
    return messages, {"tools": tools} if tools else {}


@st.composite
def _tools(draw: st.DrawFn) -> dict[str, Any]:
    function = {"name": draw(NAMES), "description": "Does it.", "parameters": draw(PARAMETERS)}
    return {"type": "function", "function": function}


@st.composite
def _round(draw: st.DrawFn, family: Family) -> Messages:
    """A message with tool calls, and the answers of the tools."""
    given = draw(st.lists(ARGUMENTS, min_size=1, max_size=family.calls))
    calls = [
        {"type": "function", "id": ID, "function": {"name": draw(NAMES), "arguments": _written(one, family)}}
        for one in given
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": calls}
    if family.beside and draw(st.booleans()):
        message["content"] = draw(texts(family.markers))
    answers = [{"role": "tool", "content": draw(texts(family.markers)), "tool_call_id": ID} for _ in calls]
    return [message, *answers]


def _written(arguments: dict[str, Any], family: Family) -> Any:
    return json.dumps(arguments) if family.text_arguments else arguments
