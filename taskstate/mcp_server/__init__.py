"""The MCP server: commands as tools, task files as resources, and prompts, for agents; no rules of its own."""
