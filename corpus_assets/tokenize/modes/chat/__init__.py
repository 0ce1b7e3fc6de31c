"""Conversations: templates, what is learned of them, and the rows made of them."""
