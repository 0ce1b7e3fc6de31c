"""The dataset modes: what each is called, which channels its rows have, and how its options make rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

from corpus_assets.tokenize.encode.cleaning import CleaningSettings
from corpus_assets.tokenize.encode.texts import encode_texts, utf8_length
from corpus_assets.tokenize.modes.chat import ChatSettings, OnFault, chat_rows, chat_vsl_rows
from corpus_assets.tokenize.modes.chat_template import ChatTemplate, render
from corpus_assets.tokenize.modes.dpo import DPOSettings, dpo_rows
from corpus_assets.tokenize.modes.fim import FIMSettings, fim_documents
from corpus_assets.tokenize.modes.fim_rows import fim_rows
from corpus_assets.tokenize.modes.lm import LMDataSettings, lmdata_rows
from corpus_assets.tokenize.modes.lm_vsl import VSLBuilder, VSLSettings
from corpus_assets.tokenize.modes.summarization import SummarizationSettings, summarization_rows, summarization_vsl_rows
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.vsl import PackingSettings
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example, Messages, chunk_bytes
from resources.formats.hdf5 import DPO_FEATURES, LM_FEATURES, VSL_FEATURES

DEFAULT_PROMPT_LENGTH = 512
Options = Mapping[str, Any]
IdentifiedText = tuple[str, str]
"""Identity and text."""


@dataclass(frozen=True)
class Mode:
    """key: in the configuration. name: the original's, for files and trainers. arrays: the layout of the rows."""

    key: str
    name: str
    words: str
    features: tuple[str, ...]
    arrays: str
    takes_texts: bool = False


_MODES = {
    mode.key: mode
    for mode in (
        Mode("lm", "LMData", "Language-modelling rows", LM_FEATURES, "LMData", True),
        Mode("lm_vsl", "LMData_VSL", "Packed documents", VSL_FEATURES, "LMData_VSL", True),
        Mode("fim", "FIM", "Fill-in-the-middle rows", LM_FEATURES, "FIM", True),
        Mode("summarization", "Summarization", "Prompts and completions", LM_FEATURES, "Summarization"),
        Mode(
            "summarization_vsl",
            "Summarization_VSL",
            "Packed prompts and completions",
            VSL_FEATURES,
            "Summarization_VSL",
        ),
        Mode("dpo", "DPO", "Preference pairs", DPO_FEATURES, "DPO"),
        Mode("chat", "Chat", "Conversations", LM_FEATURES, "Summarization"),
        Mode("chat_vsl", "Chat_VSL", "Packed conversations", VSL_FEATURES, "Summarization_VSL"),
    )
}


def mode_of(options: Options) -> Mode:
    """The mode of a dataset, given its options."""
    key = options["mode"]
    return _MODES["chat_vsl" if key == "chat" and options["pack"] else key]


def check_options(options: Options) -> None:
    """Raise ConfigError for options that no dataset can be made with; what depends on the tokenizer shows later."""
    mode = options["mode"]
    if "packing" in options:
        _packing(options)
    if mode == "fim":
        _fim(options)
    if mode in ("lm", "fim"):
        _windows(options)
    others: dict[str, Callable[[Options], object]] = {"lm_vsl": _documents, "dpo": _preferences, "chat": _chat}
    others |= dict.fromkeys(("summarization", "summarization_vsl"), _pairs)
    if mode in others:
        others[mode](options)


def text_blocks(
    options: Options, documents: Iterable[IdentifiedText], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ids]:
    """Rows of documents, as int32 blocks (rows, channels, L)."""
    eos, pad = tokenizer.eos_id, tokenizer.pad_id
    if options["mode"] == "lm_vsl":
        return _packed_documents(options, documents, tokenizer, statistics)
    if options["mode"] == "fim" and options["fim_level"] == "document":
        lists = fim_documents(documents, tokenizer, _fim(options), statistics, cleaning=_cleaning(options))
        return lmdata_rows(lists, _windows(options), eos, pad, statistics)
    rows = lmdata_rows(_encoded(options, documents, tokenizer, statistics), _windows(options), eos, pad, statistics)
    if options["mode"] == "fim":
        return fim_rows(rows, tokenizer, _fim(options), statistics, inverted_mask=options["inverted_mask"])
    return rows


def _encoded(
    options: Options, documents: Iterable[IdentifiedText], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ragged]:
    return encode_texts(
        (text for _, text in documents),
        tokenizer,
        _cleaning(options),
        statistics,
        split_length=options["split_text"],
        remove_bos_in_pieces=options["remove_bos_in_pieces"],
    )


def _packed_documents(
    options: Options, documents: Iterable[IdentifiedText], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ids]:
    builder = VSLBuilder(_documents(options), tokenizer.eos_id, tokenizer.pad_id, statistics)
    for chunk in chunked(documents, lambda document: utf8_length(document[1]), options["packing_text"]):
        yield from builder.rows(_encoded(options, chunk, tokenizer, statistics))
        yield from builder.finish()


T = TypeVar("T")


def chunked(items: Iterable[T], size: Callable[[T], int], limit: int | None) -> Iterator[Iterable[T]]:
    """Items in chunks of at most `limit` bytes of text, or of one item; None for all in one.

    The original also counts the bytes of the item's number for the item that would begin the next chunk
    (docs/formats/cerebras-hdf5.md "Chunks of text").
    """
    if limit is None:
        yield items
        return
    chunk: list[T] = []
    held = 0
    for number, item in enumerate(items):
        found = size(item)
        if held and held + found + max(1, (number.bit_length() + 7) // 8) > limit:
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += found
    yield chunk


def example_blocks(
    options: Options,
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    statistics: Statistics,
    *,
    template: str | None,
    on_fault: OnFault | None = None,
) -> Iterator[Ids]:
    """Rows of examples, as int32 blocks (rows, channels, L).

    template: a chat template instead of the tokenizer's. on_fault: hears of conversations that cannot be used.
    """
    mode = options["mode"]
    if mode == "dpo":
        instructs = options["reference"] and tokenizer.kind in ("gpt2", "neox")
        formatter = None if instructs and template is None else _formatter(tokenizer, template)
        cleaning = _cleaning(options)
        return dpo_rows(examples, tokenizer, _preferences(options), statistics, formatter=formatter, cleaning=cleaning)
    if mode == "summarization":
        return summarization_rows(examples, tokenizer, _pairs(options), statistics)
    if mode == "summarization_vsl":
        return _packed_pairs(options, examples, tokenizer, statistics)
    chat = replace(_chat(options), chat_template=template)
    if not options["pack"]:
        return chat_rows(examples, tokenizer, chat, statistics, on_fault=on_fault)
    return _packed_chats(options, chat, examples, tokenizer, statistics, on_fault=on_fault)


def _packed_pairs(
    options: Options, examples: Iterable[Example], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ids]:
    pairs, packing = _pairs(options), _packing(options)
    for chunk in chunked(examples, chunk_bytes, options["packing_text"]):
        yield from summarization_vsl_rows(chunk, tokenizer, pairs, packing, statistics)


def _packed_chats(
    options: Options,
    chat: ChatSettings,
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    statistics: Statistics,
    *,
    on_fault: OnFault | None,
) -> Iterator[Ids]:
    packing = _packing(options)
    for chunk in chunked(examples, chunk_bytes, options["packing_text"]):
        yield from chat_vsl_rows(chunk, tokenizer, chat, packing, statistics, on_fault=on_fault)


def _formatter(tokenizer: Tokenizer, given: str | None) -> Callable[[Messages], str] | None:
    """The given chat template, else the tokenizer's own, else None."""
    source = given if given is not None else tokenizer.chat_template
    if source is None:
        return None
    template = ChatTemplate(source)
    return lambda messages: render(template, messages, tokenizer.template_values)


def _cleaning(options: Options) -> CleaningSettings:
    return CleaningSettings(options["ftfy"], options["normalization"], options["wikitext"])


def _windows(options: Options) -> LMDataSettings:
    return LMDataSettings(
        sequence_length=options["sequence_length"],
        pack=options["pack"],
        keep_tail=options["keep_tail"],
        minimum_length=options["minimum_length"],
        short_sequence_probability=options["short_sequence_probability"],
        short_sequence_draws=options["short_sequence_draws"],
        seed=options["seed"],
        inverted_mask=options["inverted_mask"],
    )


def _packing(options: Options) -> PackingSettings:
    return PackingSettings(
        sequence_length=options["sequence_length"],
        method=options["packing"],
        depth=options["packing_depth"],
        window_tokens=None if options["packing_text"] else options["packing_window"],
        inverted_mask=options["inverted_mask"],
    )


def _documents(options: Options) -> VSLSettings:
    return VSLSettings(
        packing=_packing(options),
        minimum_length=options["minimum_length"],
        long_documents=options["long_documents"],
        short_sequence_probability=options["short_sequence_probability"],
        short_sequence_draws=options["short_sequence_draws"],
        seed=options["seed"],
    )


def _fim(options: Options) -> FIMSettings:
    return FIMSettings(
        sequence_length=options["sequence_length"],
        prefix_token=options["prefix_token"],
        middle_token=options["middle_token"],
        suffix_token=options["suffix_token"],
        fim_rate=options["fim_rate"],
        spm_rate=options["spm_rate"],
        seed=options["seed"],
        reference=options["reference"],
    )


def _pairs(options: Options) -> SummarizationSettings:
    return SummarizationSettings(
        sequence_length=options["sequence_length"],
        minimum_length=options["minimum_length"],
        prompt_prefix=options["prompt_prefix"],
        completion_prefix=options["completion_prefix"],
        separator=options["separator"],
        eos_after_prompt=options.get("eos_after_prompt", False),
        inverted_mask=options["inverted_mask"],
        truncate=options["truncate"],
        cleaning=_cleaning(options),
    )


def _preferences(options: Options) -> DPOSettings:
    return DPOSettings(
        sequence_length=options["sequence_length"],
        max_prompt_length=options["max_prompt_length"] or min(DEFAULT_PROMPT_LENGTH, options["sequence_length"] // 2),
        response_delimiter=options["response_delimiter"],
        user_role=options["user_role"],
        assistant_role=options["assistant_role"],
        reference=options["reference"],
    )


def _chat(options: Options) -> ChatSettings:
    return ChatSettings(
        sequence_length=options["sequence_length"],
        minimum_length=options["minimum_length"],
        template_values=options["template_values"],
        day=_day(options["day"]),
        loss_roles=None if options["loss_roles"] is None else tuple(options["loss_roles"]),
        train_on=options["train_on"],
        truncate=options["truncate"],
        inverted_mask=options["inverted_mask"],
        cleaning=_cleaning(options),
    )


def _day(given: str | None) -> date | None:
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        raise ConfigError(f"day is {given!r}; valid: a date as 2024-12-31") from None
