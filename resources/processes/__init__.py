"""Processes beside this one: limits on those that nobody trusts, and whether one still runs."""
