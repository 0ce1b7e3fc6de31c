"""Attributes that somebody else made: files beside the raw files, read into the rows that taggers write."""
