"""Tests of the embedded engine; those that start it are marked ``engine``."""
