"""Jobs that combine several packages: handing over, brief and token budget, status, doctor and its repairs."""
