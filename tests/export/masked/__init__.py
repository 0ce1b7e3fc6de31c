"""Tests of masked documents in the formats of trainers."""
