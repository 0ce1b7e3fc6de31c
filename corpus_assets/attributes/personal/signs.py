"""Signs of phone numbers and IP addresses in a text."""

from typing import NamedTuple

from corpus_assets.attributes.characters import codes
from corpus_assets.attributes.personal.spans import Found
from resources.documents.tagger import Text


class Signs(NamedTuple):
    """What a text has of the parts of phone numbers and IP addresses.

    numbers: where seven digits or more are near each other, in the order of the text. dots: whether it has numbers with
    dots as in IPv4 addresses. colons: whether it has colons as in IPv6 addresses.
    """

    numbers: list[Found]
    dots: bool
    colons: bool


def signs(text: Text) -> Signs:
    """Returns the signs in a text."""
    from corpus_assets.attributes.kernels.personal.signs import find_signs

    near, dots, colons = find_signs(text.once(codes))
    return Signs([(start, end) for start, end in near.tolist()], dots, colons)
