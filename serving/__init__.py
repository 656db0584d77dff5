"""The embedded model: fetched and converted once, served by a supervised vLLM, checked by a canary.

Invariant: the rest of the project reaches the engine only over its OpenAI-compatible HTTP interface. Nothing here is
needed when the settings name another endpoint.
"""
