"""Facts drafted from what a person said to agents, each a proposal."""
