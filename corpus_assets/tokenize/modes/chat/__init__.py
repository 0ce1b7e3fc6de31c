"""Conversations: templates, the learned parts, and rows."""
