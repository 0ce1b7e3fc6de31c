"""A tokenizer definition in which no spelling of a control token leads to its id."""

from typing import Any

from corpus_assets.tokenize.tokenizers.files import Json
from corpus_assets.tokenize.tokenizers.token_sizes import BYTE_PIECE

# A noncharacter around the id: a word that no text meant for exchange holds (Unicode standard, section 23.7).
_UNSPELLED = "\U0010ffff{}\U0010ffff"


def plain_definition(definition: Json) -> Json:
    """Returns the `tokenizer.json` object for text whose control tokens are plain; all ids are as before.

    The tokenizers library can leave control tokens unmatched (`encode_special_tokens`), but its models still find
    an entry of the vocabulary by its spelling. So merges that make a control token are left out, and an entry that
    can be found without merges is renamed to what no text spells: as in SentencePiece, where control pieces are
    never found in a text. What other text needs stays: single characters (the alphabet; some files declare `!` as
    their padding), byte pieces (`<0x0A>`), and the unknown token of a model that knows it by name.

    Offsets are those of whole tokens: `trim_offsets` is off.
    """
    model, added = definition["model"], definition.get("added_tokens") or []
    special = {token["content"] for token in added if token.get("special") and len(token["content"]) > 1}
    special = {content for content in special if not BYTE_PIECE.fullmatch(content)}
    kind = model.get("type")
    if kind == "Unigram":
        renamed = special & {piece for piece, _ in model["vocab"]}
        # The empty piece begins no text, so it is never found and may repeat.
        vocabulary: Any = [["" if piece in renamed else piece, score] for piece, score in model["vocab"]]
        model = model | {"vocab": vocabulary}
    else:
        special.discard(model.get("unk_token"))
        renamed = special & model["vocab"].keys()
        if kind == "BPE":
            model = model | {"merges": _merges_without(model, renamed)}
            renamed = renamed if model.get("ignore_merges") else set()
        if renamed:
            pieces = (
                (_UNSPELLED.format(id_) if piece in renamed else piece, id_) for piece, id_ in model["vocab"].items()
            )
            model = model | {"vocab": dict(pieces)}
    return definition | {
        "model": model,
        "added_tokens": [token for token in added if token["content"] not in renamed],
        "post_processor": _untrimmed(definition.get("post_processor")),
    }


def _merges_without(model: Json, special: set[str]) -> list[Any]:
    merges, prefix = model["merges"], model.get("continuing_subword_prefix") or ""
    # A merge that makes a token or is made with one spells it; in nearly all files none does.
    if not prefix and (spelled := _spelled(merges)) and not any(token in spelled for token in special):
        return list(merges)
    pairs = [merge.split(" ", 1) if isinstance(merge, str) else merge for merge in merges]
    first = len(prefix)
    return [[left, right] for left, right in pairs if special.isdisjoint((left, right, left + right[first:]))]


def _spelled(merges: list[Any]) -> str:
    """Returns what the merges make, a line for each; nothing if some are written in another way than the rest."""
    try:
        pairs = "\n".join(merges)
    except TypeError:
        return "\n".join(["".join(pair) for pair in merges]) if all(isinstance(pair, list) for pair in merges) else ""
    return pairs.replace(" ", "") if pairs.count(" ") == len(merges) else ""


def _untrimmed(processor: Any) -> Any:
    """Returns the post-processor without `trim_offsets`, which takes the space off a token's place in the text."""
    if isinstance(processor, list):
        return [_untrimmed(part) for part in processor]
    if not isinstance(processor, dict):
        return processor
    changed = {"trim_offsets": False} if "trim_offsets" in processor else {}
    if "processors" in processor:
        changed |= {"processors": _untrimmed(processor["processors"])}
    return processor | changed
