"""What WARC files hold: records, HTTP messages, characters and HTML."""
