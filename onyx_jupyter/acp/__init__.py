"""Other agents, run as processes that speak the Agent Client Protocol, and the tools they get from Onyx by MCP."""
