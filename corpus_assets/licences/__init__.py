"""Licences of documents: uniform names, the licence of each document, and the rule that admits only some."""
