"""Implementations of the service's ports, and readers of documents."""
