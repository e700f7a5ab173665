"""The page: what a person looks at in a browser, served on this machine or written as one file.

It has no rules of its own: it shows what the views of the commands say, and writes through their operations.
"""
