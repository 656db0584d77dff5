"""A self-hosted mock interviewer for applied-AI engineering loops."""

__version__ = "0.1.0"
