"""The versions of the tool and of the file format, in the one place from which the build and the code read them."""

VERSION = "0.1.0"
FORMAT = 1  # the highest value of `taskstate` in a state file that this version reads
