"""Tests of files of ids that exist already."""
