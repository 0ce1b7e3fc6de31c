"""Notices: who hears how a build ended."""
