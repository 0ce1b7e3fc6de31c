"""What lies in folders of this machine. A folder that cannot be listed is an error: `Path.rglob` leaves it out."""

import os
from pathlib import Path
from typing import NoReturn


def files_below(folder: Path) -> list[Path]:
    """Returns all below a folder but folders and links to them, in order; `OSError` if one cannot be listed."""
    return sorted(Path(top, name) for top, _, names in os.walk(folder, onerror=_fail) for name in names)


def _fail(error: OSError) -> NoReturn:
    raise error
