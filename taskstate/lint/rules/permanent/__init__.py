"""Rules on the permanent task: its Impact Map, versions, decisions and acknowledgements."""
