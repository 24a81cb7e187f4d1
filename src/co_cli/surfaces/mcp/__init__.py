"""The MCP server: the tools, the context and the notes for agents that people already use.

Owns the protocol: what a client is told of each tool, how a result is fitted into its bytes, which project a client means,
and the two ways to serve. What the tools do is not its matter, and it knows neither the command line nor the pages.
"""
