"""Persona documents with their adapters and training data."""
