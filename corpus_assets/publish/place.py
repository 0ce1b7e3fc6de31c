"""What `hf://org/name` names for `corpus publish` and `corpus pull`: a whole dataset of the hub, at a revision."""

from resources.errors import ConfigError
from resources.raw_places.addresses import HubAddress, hub_address

_SCHEME, _KIND = "hf://", "datasets/"


def dataset_place(address: str) -> HubAddress:
    """Returns the dataset of an address, with or without `datasets/`; `ConfigError` for any other, or for a folder."""
    rest = address.removeprefix(_SCHEME).removeprefix(_KIND)
    try:
        if not address.startswith(_SCHEME):
            raise ValueError
        place = hub_address(f"{_SCHEME}{_KIND}{rest}")
    except ValueError:
        raise _invalid(address) from None
    if place.folder:
        raise _invalid(address)
    return place


def _invalid(address: str) -> ConfigError:
    return ConfigError(f"{address!r}: valid is a dataset of the hub, hf://org/name, with or without @revision")
