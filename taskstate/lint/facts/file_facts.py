"""All facts about one file: a module for each subject adds its own to those of the module before.

`basic_facts` are what can be read, and what most rules use; then come sessions (`log_facts`), front matter
(`header_facts`), checklist (`feature_facts`), sections (`section_facts`), sizes (`length_facts`) and paths.
"""

from __future__ import annotations

from taskstate.lint.facts.path_facts import PathFacts


class Facts(PathFacts):
    """One text with what its file name tells, and all facts that are derived from it."""
