"""The contents of WARC files: records, HTTP messages, characters and HTML."""
