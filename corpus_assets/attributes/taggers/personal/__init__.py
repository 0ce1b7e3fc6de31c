"""Taggers of personal data."""
