"""Stores that earlier versions made, kept so that each later version is held to reading them.

`version_0_2.tar.xz` holds the corpora of `tests/golden_content` as version 0.2 built them, sampled so that the file
is small: raw files, configuration, records and files of every kind of stage. It is written once, by the version that it
is named after:

    .venv/bin/python -m tests.compatibility.make_store
"""
