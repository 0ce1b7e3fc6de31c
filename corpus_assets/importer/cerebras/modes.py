"""The mode of a run of Cerebras' preprocessing as a mode of a dataset."""

from typing import NamedTuple

from corpus_assets.importer.cerebras.settings import Settings

_OLD = {
    "lmdata": "lm",
    "lmdata_vsl": "lm_vsl",
    "fim": "fim",
    "summarization": "summarization",
    "summarization_vsl": "summarization_vsl",
    "dpo": "dpo",
}
"""Our modes by those of the releases up to 2.2.1, in lower case."""
_PROCESSORS = {
    "LMDataPreprocessor": "lm",
    "VSLLMDataPreprocessor": "lm_vsl",
    "FIMDataPreprocessor": "fim",
    "SummarizationPreprocessor": "summarization",
    "CurationCorpusPreprocessor": "summarization",
    "VSLSummarizationPreprocessor": "summarization_vsl",
    "DPOPreprocessor": "dpo",
}
NEW_MODES = ("pretraining", "finetuning", "nlg", "custom", "embedding_training", "embedding_generation")
_REFUSED = {
    "nlg": "its files hold ids and no texts; give the texts to mode summarization",
    "mlm": "there are no masked-language rows; `format: text` gives texts to a trainer that masks them",
    "bert_pretraining": "there are no masked-language rows; `format: text` gives texts to a trainer that masks them",
    "custom": "its rows are made by a function of its own; write a stage (corpus docs own-stage)",
    "customize": "its rows are made by a function of its own; write a stage (corpus docs own-stage)",
    "embedding_training": "there are no rows for embeddings; `format: text` gives texts to their trainer",
    "embedding_generation": "there are no rows for embeddings; `format: text` gives texts to their trainer",
}
_CHAT_HOOKS = ("chat_read_hook", "prompt_completion_chat_read_hook")


class Mode(NamedTuple):
    """Our mode, and whether the run is one of a release after 2.2.1."""

    name: str
    is_new: bool


def mode_of(given: Settings, named: str | None) -> Mode | None:
    """Returns the mode of a run, and records what says it; None if there is no such mode here.

    named: the mode that the user names, which comes first.
    """
    is_new = any(key in given.keys for key in ("read_hook", "custom_tokenizer", "tokenizer_params", "use_vsl"))
    is_new = is_new or any(key.startswith("setup.data.") for key in given.values)
    said = named or given.mode or given.value("mode")
    place = given.where + (given.keys.get("mode", "mode") if not named else "--mode")
    if isinstance(said, str):
        given.named.add(given.keys.get("mode", ""))
        if (found := _named(given, said.lower(), is_new=is_new)) is None:
            why = _refusal(given, said.lower())
            given.draft.leave(place, why)
            return None
        given.draft.take(place, f"datasets[].mode: {found.name}")
        return found
    processor = given.value("dataset_processor")
    if processor is not None:
        given.named.add(given.keys["dataset_processor"])
        place = given.where + given.keys["dataset_processor"]
        if (ours := _PROCESSORS.get(str(processor).rpartition(".")[2])) is None:
            given.draft.leave(place, f"{processor!r} has no mode here; valid: {', '.join(_PROCESSORS)}")
            return None
        given.draft.take(place, f"datasets[].mode: {ours}")
        return Mode(ours, is_new=False)
    ours = _by_keys(given)
    given.draft.remind(f"{given.title}: no key says the mode; its keys are those of {ours}; --mode names another")
    return Mode(ours, is_new)


def _named(given: Settings, said: str, *, is_new: bool) -> Mode | None:
    if said in _OLD:
        return Mode(_OLD[said], is_new)
    vsl = "_vsl" if given.value("use_vsl") is True else ""
    objective = given.value("training_objective")
    if said == "pretraining" and objective in (None, "fim", "lm") and not given.value("is_multimodal"):
        given.named |= {given.keys.get(key, "") for key in ("use_vsl", "training_objective")}
        _note(given, ("use_vsl", "training_objective"))
        return Mode("fim" if objective == "fim" or given.has("fim_prefix_tok") else f"lm{vsl}", is_new=True)
    if said == "finetuning" and not given.value("is_multimodal"):
        _note(given, ("use_vsl",))
        hook = str(given.value("read_hook") or "").rpartition(":")[2]
        templated = given.has("huggingface_tokenizer") or given.has("chat_template")
        return Mode("chat" if hook in _CHAT_HOOKS and templated else f"summarization{vsl}", is_new=True)
    return None


def _note(given: Settings, names: tuple[str, ...]) -> None:
    for name in (one for one in names if one in given.keys):
        given.named.add(given.keys[name])
        given.draft.take(given.where + given.keys[name], "datasets[].mode")


def _refusal(given: Settings, said: str) -> str:
    if given.value("is_multimodal"):
        return "images have no rows here"
    return _REFUSED.get(
        str(given.value("training_objective") or said),
        f"{said!r} is no mode here; valid: {', '.join((*_OLD, 'pretraining', 'finetuning'))}",
    )


def _by_keys(given: Settings) -> str:
    if any(given.has(key) for key in ("fim_prefix_tok", "fim_rate")):
        return "fim"
    if any(given.has(key) for key in ("chosen_key", "rejected_key")):
        return "dpo"
    if any(given.has(key) for key in ("prompt_key", "completion_key", "multi_turn_key")):
        packed = any(given.has(key) for key in ("eos_after_prompt", "multi_turn_key", "position_ids_dtype"))
        return "summarization_vsl" if packed else "summarization"
    return "lm_vsl" if any(given.has(key) for key in ("fold_long_doc", "position_ids_dtype")) else "lm"
