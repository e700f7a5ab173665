"""The smallest things that a text consists of, as the merge takes them: what is merged, counted and brought back.

Pure: functions on texts and values, which read and change nothing on disk.
"""
