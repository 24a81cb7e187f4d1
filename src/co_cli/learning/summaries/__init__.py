"""One memory in place of several that speak of the same, held to what its sources say."""
