"""Regular expressions that are compiled when they are first used, and once.

Compiling one takes up to milliseconds, and most runs need few. `re` itself takes a microsecond to find what it has
compiled, which counts where a file has ten thousand lines to match.
"""

from __future__ import annotations

import re
from functools import cache

compiled = cache(re.compile)

# Text in code marks. Possessive, and only from the first mark of a run: else a run without end takes quadratic time.
CODE = r"(?s)(?<!`)(`++)(.+?)(?<!`)\1(?!`)"
