"""Labelled answers, benchmarks and published reports."""
