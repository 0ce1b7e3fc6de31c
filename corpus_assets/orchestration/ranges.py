"""Ranges of partitions, because a Dagster run takes one range, and not a set."""

from collections.abc import Collection, Sequence

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def ranges(
    chosen: Sequence[str], order: Sequence[str], most: int, never: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Returns at most `most` contiguous ranges of `order` that cover `chosen`, by closing the smallest gaps.

    Fresh partitions inside a range are not computed again. No range contains a key in `never`, even if that needs more
    than `most` ranges.
    """
    wanted, walls = set(chosen), set(never)
    places = [place for place, key in enumerate(order) if key in wanted]
    gaps = [i for i in range(1, len(places)) if places[i] - places[i - 1] > 1]
    must = {i for i in gaps if walls.intersection(order[places[i - 1] + 1 : places[i]])}
    widest = sorted(set(gaps) - must, key=lambda i: (places[i - 1] - places[i], i))
    cuts = sorted([*must, *widest[: max(0, most - 1 - len(must))]])
    starts, ends = [0, *cuts], [*cuts, len(places)]
    return [(order[places[a]], order[places[b - 1]]) for a, b in zip(starts, ends, strict=True) if b > a]
