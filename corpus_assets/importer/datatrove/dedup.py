"""Deduplication of datatrove as `minhash`, `dedup` and `dedupers`."""

from typing import Any

from corpus_assets.importer.datatrove.draft import NO_PARAMETER, Trove
from corpus_assets.importer.datatrove.names import ORDER
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.given import Given, Unknown, text, whole

_MINHASH = {
    "n_grams": ("width", 5),
    "num_buckets": ("bands", 14),
    "hashes_per_bucket": ("rows", 8),
    "seed": ("seed", 1),
}
_NORMS = {
    "norm_config": "texts are cleaned in one way for comparison (corpus docs near-duplicates)",
    "hash_config": "`minhash.family` says how values are computed",
}


def minhash(trove: Trove, block: Block) -> None:
    """Sets signatures and bands, as the config of any of the four steps says; pairs are not checked there."""
    given = trove.given(block)
    values, defaults = trove.draft.values, dict(_MINHASH.values())
    found: dict[str, Any] = {"unit": "word", **defaults, **values.get("minhash", {})}
    if isinstance(config := given.values.get("config"), Block):
        given.named.add("config")
        found |= _configured(trove, config)
        trove.draft.take(f"{given.where}config", "minhash")
    elif config is None:
        given.leave("config", "null is the default, which is set here")
    else:
        given.take("config", "minhash", text)
    found["permutations"] = found["bands"] * found["rows"]
    values["minhash"] = found
    values["dedup"] = {"verify": "none"}
    if "duplicates" not in trove.leave_out:
        trove.leave_out.append("duplicates")
        trove.draft.remind("pairs are not checked, as in datatrove; `dedup.verify: two_sided` checks each")
    trove.draft.take(given.where.strip(), "minhash, dedup, and mix.leave_out: duplicates")
    for key in ("only_dedup_in_index", "ignore_index_matches", "save_cluster_id", "save_cluster_size"):
        given.leave(key, "`components` keeps clusters and their sizes; there is no index of another run")
    for key in ("load_cluster_ids", "load_cluster_sizes"):
        given.leave(key, "`corpus show duplicates` has cluster and size")
    trove.finish(given)


def _configured(trove: Trove, config: Block) -> dict[str, Any]:
    names = ORDER["MinhashConfig"]
    values = {names[key] if isinstance(key, int) else key: value for key, value in config.values.items()}
    given = Given(trove.draft, values, f"{trove.label}line {config.line}: MinhashConfig ")
    found: dict[str, Any] = {}
    for key, (ours, _) in _MINHASH.items():
        if value := given.take(key, f"minhash.{ours}", whole):
            found[ours] = value
    given.leave_all(_NORMS)
    given.finish(NO_PARAMETER)
    return found


def urls(trove: Trove, block: Block) -> None:
    """Adds a deduper of URLs, whose marked documents are left out of the mix."""
    given = trove.given(block)
    if trove.draft.entry("dedupers", "urls") is None:
        trove.draft.add("dedupers", {"name": "urls", "by": "url"})
        trove.leave_out.append("urls_attributes")
    trove.draft.take(given.where.strip(), "dedupers: by: url, and mix.leave_out: urls_attributes")
    config = given.values.get("config")
    given.named.add("config")
    if isinstance(config, Block):
        where = f"{trove.label}line {config.line}: {config.name} "
        inside = Given(trove.draft, {str(key): value for key, value in config.values.items()}, where)
        inside.leave("document_priority", "the first of equal documents is kept, in the order of sources")
        inside.leave("url_normalizer", "URLs are compared as they are written")
        inside.leave("only_dedup_in_index", "there is no index of another run")
        inside.leave_all(_NORMS)
        inside.finish(NO_PARAMETER)
    elif isinstance(config, Unknown):
        given.leave("config", f"{config.said} is no literal")
    trove.finish(given)
