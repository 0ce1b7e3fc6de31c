"""A block of a page that reads MDS with `streaming`, and all samples of the dataset that it opens."""

from typing import Any

from tests.export.readers.inside.vision import import_torchvision


def answer(given: dict[str, Any]) -> list[list[int]]:
    """Runs `code`, which makes a `dataset` and reads its first `tokens`."""
    import_torchvision()
    from streaming.base.util import clean_stale_shared_memory

    clean_stale_shared_memory()
    made: dict[str, Any] = {}
    exec(given["code"], made)
    rows = [made["dataset"][number]["tokens"].tolist() for number in range(len(made["dataset"]))]
    assert made["tokens"].tolist() == rows[0]
    return rows
