"""The filter equals the mixer of the Dolma toolkit on the golden corpus: the same documents, with the same texts."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from resources.formats.codecs import open_gzip
from resources.stage.partition import Partition
from tests.build.small import drive, opened
from tests.golden.test_dolma import GOLDEN, lines_of

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files of the Dolma toolkit")

GIVEN = '''
"""Attributes that the toolkit wrote, as attributes of this corpus."""

from functools import partial
from pathlib import Path

from resources import Partitioning, Stage, attribute_rows, same
from resources.formats.codecs import open_gzip


def given(task, name):
    file = Path({folder!r}) / name / task.shard.path
    with file.open("rb") as raw, open_gzip(raw) as lines, task.attributes(name) as out:
        for row, document in zip(attribute_rows(lines), task.input("normalized_documents").documents(), strict=True):
            assert row.id == document.id
            out.add(document, row.attributes)


STAGES = [
    Stage(name=name, group="attributes", description="given", partitioning=Partitioning.SHARD,
          compute=partial(given, name=name), code_version="1", io="documents", inputs=(same("normalized_documents"),))
    for name in {names!r}
]
'''
