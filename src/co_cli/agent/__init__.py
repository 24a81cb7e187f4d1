"""The agent of `co chat`: a model, or none, with the memory's tools, which asks before it writes.

Knows the knowledge façade and the tools; nothing of the terminal. pydantic_ai lives here only.
"""
