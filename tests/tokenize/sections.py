"""Sections of datasets as the modes take them; unchecked, so that rows may be as short as a test likes."""

from typing import Any

from corpus_assets.config.datasets.modes import (
    ChatDataset,
    DPODataset,
    FIMDataset,
    LMDataset,
    SummarizationDataset,
    SummarizationVSLDataset,
    VSLDataset,
)

SHORT_NAMES = {"prefix_token": "<pre>", "middle_token": "<mid>", "suffix_token": "<suf>"}


def lm(length: int = 64, **options: Any) -> LMDataset:
    return LMDataset.model_construct(None, name="d", sequence_length=length, **options)


def window(tokens: int | None) -> dict[str, Any]:
    """Options for so many ids that are packed together; None: all that there are."""
    return {"packing_text": 1 << 20} if tokens is None else {"packing_window": tokens}


def lm_vsl(length: int, **options: Any) -> VSLDataset:
    return VSLDataset.model_construct(None, name="d", sequence_length=length, **options)


def fim(length: int = 64, **options: Any) -> FIMDataset:
    return FIMDataset.model_construct(None, name="d", sequence_length=length, **(SHORT_NAMES | options))


def summarization(length: int = 64, **options: Any) -> SummarizationDataset:
    return SummarizationDataset.model_construct(None, name="d", sequence_length=length, **options)


def summarization_vsl(length: int = 64, **options: Any) -> SummarizationVSLDataset:
    return SummarizationVSLDataset.model_construct(None, name="d", sequence_length=length, **options)


def chat(length: int, **options: Any) -> ChatDataset:
    usual: dict[str, Any] = {"minimum_length": 2, "truncate": "discard"}
    return ChatDataset.model_construct(None, name="d", sequence_length=length, **(usual | options))


def dpo(length: int = 64, **options: Any) -> DPODataset:
    return DPODataset.model_construct(None, name="d", sequence_length=length, **options)


def cleaning(dataset: dict[str, Any]) -> dict[str, Any]:
    """Our options for the cleaning of a golden case, by the section `dataset` of its parameters."""
    return {
        "ftfy": dataset.get("use_ftfy", True),
        "normalization": dataset.get("ftfy_normalizer", "NFC"),
        "wikitext": dataset.get("wikitext_detokenize", False),
    }
