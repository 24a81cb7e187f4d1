"""Pages and documents: fetched with care, turned into Markdown, and kept as articles.

Knows nothing of surfaces.
"""
