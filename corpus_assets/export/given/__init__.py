"""The token streams of files of ids that exist already."""
