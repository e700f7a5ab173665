"""The permanent task: one shared, versioned context that every agent reads by its id and version.

Here is what is done with it: updates, versions, acknowledgements, the Impact Map and the claims that are checked by it.
How its text is read is in `model/permanent.py` and `model/impact_map.py`.
"""
