"""The versions of the tool and of the file format, written in this one place; the build reads VERSION from here."""

VERSION = "0.1.0"
FORMAT = 1  # what a state file's `taskstate` may say at most
