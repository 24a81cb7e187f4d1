"""The index of a vault: what is derived from its notes, in one SQLite file that can be thrown away at any time.

Owns the schema, the terms of a text, the vectors, and every statement. Knows nothing of files: `sync` tells it what is in
them, and `retrieval` asks it.
"""
