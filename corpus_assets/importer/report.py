"""What an import says: each parameter with the key that holds it, or with the reason why none does."""

from collections.abc import Iterator

from corpus_assets.importer.draft import Draft


def report_lines(draft: Draft) -> Iterator[str]:
    """Yields a line for every parameter, and then for every step of the user's."""
    for key, ours in draft.taken.items():
        yield f"taken over: {key}: as {ours}"
    for key, why in draft.left_out.items():
        yield f"not taken over: {key}: {why}"
    for step in draft.to_do:
        yield f"to do: {step}"
