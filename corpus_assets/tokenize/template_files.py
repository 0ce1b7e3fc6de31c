"""Chat templates that a configuration names: its own text, a ready one, or a file."""

from typing import Final

from corpus_assets.config.ready_templates import READY, template_in_place
from resources.config_files import read_outside
from resources.errors import ConfigError

MAX_TEMPLATE_BYTES: Final = 1 << 20


def template_source(given: str, key: str) -> bytes:
    """Returns a chat template as UTF-8: the configuration's own, by its text or name, else the content of a file.

    `ConfigError` names the key for a file that cannot be read, or is no text.
    """
    if template := template_in_place(given):
        return template.encode()
    try:
        content = read_outside(key, given, MAX_TEMPLATE_BYTES)
        content.decode()
    except ConfigError as fault:
        is_bare = "." not in given.rpartition("/")[2]
        raise ConfigError(f"{fault}; ready templates are {', '.join(READY)}" if is_bare else str(fault)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}: {given!r} is not UTF-8: {error}") from None
    return content
