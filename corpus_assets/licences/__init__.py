"""Licences of documents: their names in one spelling, what each document says, and the gate that lets some through."""
