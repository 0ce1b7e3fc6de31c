"""The dataset modes: what each is called, which channels its rows have, and how its options make rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from corpus_assets.tokenize.chat import ChatSettings, OnFault, chat_rows, chat_vsl_rows
from corpus_assets.tokenize.cleaning import CleaningSettings
from corpus_assets.tokenize.dpo import DPOSettings, dpo_rows
from corpus_assets.tokenize.encoding import encode_texts
from corpus_assets.tokenize.fim import FIMSettings, fim_documents
from corpus_assets.tokenize.fim_rows import fim_rows
from corpus_assets.tokenize.hdf5 import DPO_FEATURES, LM_FEATURES, VSL_FEATURES
from corpus_assets.tokenize.lmdata import LMDataSettings, lmdata_rows
from corpus_assets.tokenize.lmvsl import VSLSettings, lmdata_vsl_rows
from corpus_assets.tokenize.protocol import Tokenizer
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.summarization import SummarizationSettings, summarization_rows, summarization_vsl_rows
from corpus_assets.tokenize.template import ChatTemplate, render
from corpus_assets.tokenize.vsl import PackingSettings
from resources.examples import Example, Messages

Options = Mapping[str, Any]
Document = tuple[str, str]
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


def text_blocks(
    options: Options, documents: Iterable[Document], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ids]:
    """Rows of documents, as int32 blocks (rows, channels, L)."""
    if options["mode"] == "fim":
        return _fim_blocks(options, documents, tokenizer, statistics)
    encoded = _encoded(options, documents, tokenizer, statistics)
    if options["mode"] == "lm_vsl":
        settings = VSLSettings(
            packing=_packing(options),
            min_sequence_length=options["minimum_length"],
            long_documents=options["long_documents"],
            short_sequence_probability=options["short_sequence_probability"],
            seed=options["seed"],
        )
        return lmdata_vsl_rows(encoded, settings, tokenizer.eos_id, tokenizer.pad_id, statistics)
    return lmdata_rows(encoded, _windows(options), tokenizer.eos_id, tokenizer.pad_id, statistics)


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
    if options["mode"] == "dpo":
        return _dpo_blocks(options, examples, tokenizer, statistics, template)
    if options["mode"] == "chat":
        return _chat_blocks(options, examples, tokenizer, statistics, given=template, on_fault=on_fault)
    settings = SummarizationSettings(
        sequence_length=options["sequence_length"],
        min_sequence_length=options["minimum_length"],
        prompt_prefix=options["prompt_prefix"],
        completion_prefix=options["completion_prefix"],
        separator=options["separator"],
        eos_after_prompt=options.get("eos_after_prompt", False),
        inverted_mask=options["inverted_mask"],
        truncate=options["truncate"],
        cleaning=_cleaning(options),
    )
    if options["mode"] == "summarization":
        return summarization_rows(examples, tokenizer, settings, statistics)
    return summarization_vsl_rows(examples, tokenizer, settings, _packing(options), statistics)


def _encoded(
    options: Options, documents: Iterable[Document], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ragged]:
    return encode_texts(
        (text for _, text in documents),
        tokenizer,
        _cleaning(options),
        statistics,
        split_length=options.get("split_text"),
        remove_bos_in_pieces=options.get("remove_bos_in_pieces", False),
    )


def _cleaning(options: Options) -> CleaningSettings:
    return CleaningSettings(options["ftfy"], options["normalization"], options["wikitext"])


def _windows(options: Options) -> LMDataSettings:
    return LMDataSettings(
        sequence_length=options["sequence_length"],
        pack=options["pack"],
        keep_tail=options["keep_tail"],
        min_sequence_length=options["minimum_length"],
        short_sequence_probability=options["short_sequence_probability"],
        seed=options["seed"],
        split_text=options["split_text"],
        remove_bos_in_pieces=options["remove_bos_in_pieces"],
        inverted_mask=options["inverted_mask"],
    )


def _packing(options: Options) -> PackingSettings:
    return PackingSettings(
        sequence_length=options["sequence_length"],
        method=options["packing"],
        depth=options["packing_depth"],
        window_tokens=options["packing_window"],
        inverted_mask=options["inverted_mask"],
    )


def _fim_blocks(
    options: Options, documents: Iterable[Document], tokenizer: Tokenizer, statistics: Statistics
) -> Iterator[Ids]:
    settings = FIMSettings(
        sequence_length=options["sequence_length"],
        prefix_token=options["prefix_token"],
        middle_token=options["middle_token"],
        suffix_token=options["suffix_token"],
        fim_rate=options["fim_rate"],
        spm_rate=options["spm_rate"],
        seed=options["seed"],
    )
    windows, eos, pad = _windows(options), tokenizer.eos_id, tokenizer.pad_id
    if options["fim_level"] == "row":
        encoded = _encoded(options, documents, tokenizer, statistics)
        blocks = lmdata_rows(encoded, windows, eos, pad, statistics)
        return fim_rows(blocks, tokenizer, settings, statistics, inverted_mask=options["inverted_mask"])
    lists = fim_documents(documents, tokenizer, settings, statistics, cleaning=_cleaning(options))
    return lmdata_rows(lists, windows, eos, pad, statistics)


def _formatter(tokenizer: Tokenizer, given: str | None) -> Callable[[Messages], str] | None:
    """The given chat template, else the tokenizer's own, else None."""
    source = given if given is not None else tokenizer.chat_template
    if source is None:
        return None
    template = ChatTemplate(source)
    return lambda messages: render(template, messages, tokenizer.template_values)


def _dpo_blocks(
    options: Options, examples: Iterable[Example], tokenizer: Tokenizer, statistics: Statistics, given: str | None
) -> Iterator[Ids]:
    settings = DPOSettings(
        sequence_length=options["sequence_length"],
        max_prompt_length=options["max_prompt_length"],
        response_delimiter=options["response_delimiter"],
        user_role=options["user_role"],
        assistant_role=options["assistant_role"],
        reference=options["reference"],
    )
    formatter = _formatter(tokenizer, given)
    return dpo_rows(examples, tokenizer, settings, statistics, formatter=formatter, cleaning=_cleaning(options))


def _chat_blocks(
    options: Options,
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    statistics: Statistics,
    *,
    given: str | None,
    on_fault: OnFault | None,
) -> Iterator[Ids]:
    settings = ChatSettings(
        sequence_length=options["sequence_length"],
        chat_template=given,
        min_sequence_length=options["minimum_length"],
        template_values=options["template_values"],
        day=date.fromisoformat(options["day"]) if options["day"] else None,
        loss_roles=None if options["loss_roles"] is None else tuple(options["loss_roles"]),
        train_on=options["train_on"],
        truncate=options["truncate"],
        inverted_mask=options["inverted_mask"],
        cleaning=_cleaning(options),
    )
    if not options["pack"]:
        return chat_rows(examples, tokenizer, settings, statistics, on_fault=on_fault)
    return chat_vsl_rows(examples, tokenizer, settings, _packing(options), statistics, on_fault=on_fault)
