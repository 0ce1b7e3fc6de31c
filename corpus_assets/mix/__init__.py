"""Mixing: scatter by chunk, shuffle a chunk, exact epochs."""
