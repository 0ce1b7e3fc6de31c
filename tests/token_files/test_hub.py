"""Files of ids on the hub: the files of a group are read in the commit that was listed."""

from pathlib import Path

import pytest

from resources.errors import BadFileError
from resources.raw_places import hub, ranged
from tests.hub_server import REPOSITORY, hub_of
from tests.token_files import writing
from tests.token_files.given import files_read
from tests.token_files.writing import PLAIN, ROWS

PLACE = f"hf://datasets/{REPOSITORY}@main/data"


@pytest.mark.parametrize("name", ["megatron", "mds"])
def test_groups_are_read_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(ranged, "PART", 32)
    hub._tree.cache_clear()
    (tmp_path / "files").mkdir()
    if name == "megatron":
        writing.megatron(tmp_path / "files", ROWS)
    else:
        writing.mds(tmp_path / "files", [ROWS[:2], ROWS[2:]], packed=True)
    files = {f"data/{file.name}": file.read_bytes() for file in (tmp_path / "files").iterdir()}
    with hub_of(tmp_path, monkeypatch) as made:
        made.commit(files)
        assert files_read(PLACE, name).rows == PLAIN
        lost = max(files)
        made.commit({path: content for path, content in files.items() if path != lost})
        with pytest.raises(BadFileError, match="which is not there"):
            files_read(PLACE, name)
