"""HTTP for this machine alone: what the servers of the page and of MCP share."""
