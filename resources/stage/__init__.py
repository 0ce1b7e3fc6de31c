"""Stages: their declaration, their graph, and the computation of one partition."""
