"""Rows of a dataset of texts: each is made of one document or example, or there is a reason why not."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from corpus_assets.config.datasets.text_exports import OF_MESSAGES, TextExport
from corpus_assets.export.texts.messages import READ as READ_WITH_MESSAGES
from corpus_assets.export.texts.messages import Metadata, as_cells, conversation, exchange, preference, raw_text
from corpus_assets.export.texts.refused import RefusedError
from resources.formats.documents import NO_METADATA
from resources.formats.examples import Example, example_bytes

Values = dict[str, Any]


class Row(NamedTuple):
    """One row. values: by column, in their order, without those that have none. size: UTF-8 bytes of its texts."""

    id: str
    source: str
    values: Values
    size: int


_METADATA = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Rows:
    """Makes the rows of a dataset. A document of a split is given as the example of its text."""

    def __init__(self, section: TextExport) -> None:
        self._section = section
        self._make = _MAKERS[section.rows]
        self._reads_metadata = section.rows not in ("text", "prompt_completion", "preference") or section.metadata

    def row(self, given: Example) -> Row:
        """Returns the row of an example or document; raises `RefusedError`."""
        section = self._section
        metadata = metadata_of(given) if self._reads_metadata else {}
        values = self._make(given, metadata, section)
        if section.is_table and section.rows in OF_MESSAGES:
            values = as_cells(values, section.message_keys)
        more = {key: text for key in section.metadata if (text := raw_text(metadata.get(key))) is not None}
        named = {"id": given.id, "source": given.source}
        return Row(given.id, given.source, {**named, **values, **more}, example_bytes(given))


def metadata_of(given: Example) -> Metadata:
    """Returns what a document or example has besides its texts, as JSON by key."""
    return _METADATA.decode(given.metadata) if given.metadata != NO_METADATA else {}


def keys_read(section: TextExport) -> frozenset[str]:
    """Returns the keys of the metadata that rows are made of."""
    own = {"instruction": [section.input_key], "kto": [section.label_key], "kto_messages": [section.label_key]}
    return frozenset(
        {*section.metadata, *own.get(section.rows, ()), *(READ_WITH_MESSAGES if section.rows in OF_MESSAGES else ())}
    )


def _text(given: Example, _: Metadata, __: TextExport) -> Values:
    return {"text": given.text or ""}


def _messages(given: Example, row: Metadata, _: TextExport) -> Values:
    return conversation(given, row)


def _pair(given: Example, _: Metadata, __: TextExport) -> Values:
    return {"prompt": given.prompt, "completion": given.completion}


def _instruction(given: Example, row: Metadata, section: TextExport) -> Values:
    return {
        "instruction": given.prompt,
        "input": raw_text(row.get(section.input_key)) or "",
        "output": given.completion,
    }


def _preference(given: Example, _: Metadata, __: TextExport) -> Values:
    texts = {"prompt": given.prompt, "chosen": given.chosen, "rejected": given.rejected}
    if any(isinstance(text, list) for text in texts.values()):
        raise RefusedError(
            "not_texts", "prompt or responses are messages; valid: texts, or `rows: preference_messages`"
        )
    if given.prompt is None:
        raise RefusedError("no_prompt", "there is no prompt")
    if given.chosen == given.rejected:
        raise RefusedError("equal_responses", "chosen and rejected are equal")
    return texts


def _preference_messages(given: Example, row: Metadata, _: TextExport) -> Values:
    return preference(given, row)


def _exchange(given: Example, row: Metadata, _: TextExport) -> Values:
    return exchange(given, row)


def _kto(given: Example, row: Metadata, section: TextExport) -> Values:
    return {"prompt": given.prompt, "completion": given.completion, "label": _label(row, section)}


def _kto_messages(given: Example, row: Metadata, section: TextExport) -> Values:
    return {**exchange(given, row), "label": _label(row, section)}


def _label(row: Metadata, section: TextExport) -> bool:
    key = section.label_key
    if raw_text(row.get(key)) is None:
        raise RefusedError("no_label", f"no key {key!r}; the row has {', '.join([*row][:10]) or 'no other keys'}")
    label = msgspec.json.decode(row[key])
    if not isinstance(label, bool):
        raise RefusedError("label_not_boolean", f"{key} is {bytes(row[key]).decode()[:40]}; valid: true, false")
    return label


_MAKERS: Mapping[str, Callable[[Example, Metadata, TextExport], Values]] = {
    "text": _text,
    "messages": _messages,
    "prompt_completion": _pair,
    "prompt_completion_messages": _exchange,
    "instruction": _instruction,
    "preference": _preference,
    "preference_messages": _preference_messages,
    "kto": _kto,
    "kto_messages": _kto_messages,
}
