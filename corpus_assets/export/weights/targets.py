"""How many tokens each source or unit should have, and what becomes of those that it cannot have."""

from collections.abc import Collection, Mapping

from corpus_assets.config.datasets.weights import Weights
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

Tokens = Mapping[str, int]
_NEAR = 1e-3
"""How far shares of units may add up beside 1, since tables are rounded."""
_SHOWN = 12


def without_empty(weights: Weights, empty: Collection[str], where: str) -> Weights:
    """Returns weights that do not name some sources; `ConfigError` if they name no other."""
    asked = weights.given()
    left = {source: share for source, share in asked.items() if source not in empty}
    if len(left) == len(asked):
        return weights
    if not any(left.values()):
        raise ConfigError(f"{where}: none of {', '.join(asked)} has a document")
    return weights.model_copy(update={"shares" if weights.tokens is None else "tokens": left})


def targets_of(weights: Weights, found: Tokens, where: str) -> dict[str, int]:
    """Returns the tokens that each source or unit should have, in the order of `found`, the tokens that there are.

    where: what stands before a name in messages. Raises `ConfigError` for a name without a document.
    """
    assert not isinstance(weights.shares, str), "a file is read before"
    asked: Mapping[str, float] = weights.given()
    asked = {source: share for source, share in asked.items() if share or source in found}
    if unknown := sorted(set(asked) - set(found)):
        near = did_you_mean(unknown[0], found)
        raise ConfigError(f"{where} {unknown[0]!r} has no document{near}; valid: {_some(found)}")
    if weights.tokens is not None:
        return {source: int(asked[source]) for source in found if source in asked}
    total = weights.total or sum(found[source] for source in asked)
    whole = sum(asked.values())
    return {source: round(total * asked[source] / whole) for source in found if source in asked}


def require_whole(shares: Mapping[str, float], where: str) -> None:
    """Raises `ConfigError` unless the shares of units add up to 1: of many, one is easily forgotten."""
    total = sum(shares.values())
    if abs(total - 1) > _NEAR:
        raise ConfigError(
            f"{where}: the shares of {len(shares):,} units add up to {total:.6g}; valid: 1 (between {1 - _NEAR} and "
            f"{1 + _NEAR}), or `tokens`"
        )


def reachable(asked: Tokens, found: Tokens, already: Tokens, weights: Weights, where: str) -> dict[str, int]:
    """Returns the tokens that sources or units can have of those asked for, under `max_epochs`.

    already: tokens used by the datasets before. What one cannot have fails the dataset, is left out, or is shared out
    over the others, as `on_excess` says.
    """
    most = {}
    for source, target in asked.items():
        if not found[source]:
            raise ConfigError(f"{where} {source!r} has no tokens")
        most[source] = max(0, int(found[source] * weights.max_epochs) - already.get(source, 0))
        if weights.on_excess == "fail" and target > most[source]:
            raise ConfigError(
                f"{where} {source!r} {_too_often(target, found[source], already.get(source, 0), weights)}"
            )
    if weights.on_excess == "share":
        return shared_out(asked, most, where)
    return {source: min(target, most[source]) for source, target in asked.items()}


def _too_often(target: int, available: int, already: int, weights: Weights) -> str:
    before = f" and {already:,} in the datasets before" if already else ""
    return (
        f"has {available:,} tokens and would need {target:,}{before}, "
        f"{(already + target) / available:.2f} epochs; valid: at most max_epochs {weights.max_epochs:g}, or "
        "`on_excess: cap` or `share`"
    )


def shared_out(asked: Tokens, most: Tokens, where: str) -> dict[str, int]:
    """Returns the same total with at most so many tokens each: the excess goes to the others, as they are asked for.

    Those that are full stay full, and the rest is shared out again until nobody is over (water-filling, as in UniMax,
    arXiv:2304.09151). Raises `ConfigError` if all together cannot have the total.
    """
    total, room = sum(asked.values()), sum(most[source] for source, target in asked.items() if target)
    if total > room:
        raise ConfigError(
            f"{where}s together have {room:,} tokens within max_epochs, and {total:,} are asked for; valid: a smaller "
            "total, or a larger `max_epochs`"
        )
    open_ = {source: target for source, target in asked.items() if target}
    full: dict[str, int] = {}
    while open_:
        left, whole = total - sum(full.values()), sum(open_.values())
        over = [source for source, target in open_.items() if target * left > most[source] * whole]
        if not over:
            break
        full |= {source: most[source] for source in over}
        open_ = {source: target for source, target in open_.items() if source not in full}
    found = dict.fromkeys(asked, 0) | full | _in_proportion(open_, total - sum(full.values()), most)
    return {source: found[source] for source in asked}


def _in_proportion(asked: Tokens, total: int, most: Tokens) -> dict[str, int]:
    """Returns whole numbers in the proportion asked for that add up to the total."""
    whole = sum(asked.values())
    found = {source: target * total // whole for source, target in asked.items()}
    rest = total - sum(found.values())
    by_remainder = sorted(asked, key=lambda source: (-(asked[source] * total % whole), source))
    for source in by_remainder:
        if rest and found[source] < most[source]:
            found[source] += 1
            rest -= 1
    return found


def _some(names: Collection[str]) -> str:
    shown = [*names][:_SHOWN]
    more = len(names) - len(shown)
    return (", ".join(shown) or "none") + (f" and {more:,} more" if more else "")
