"""Words by which a session says that an issue is resolved, that something was decided, or that something failed.

Agents write in the language of their users; a language that is missing here loses nothing but the preference. A word
stands for all that begin with it.
"""

from __future__ import annotations

from typing import Final

RESOLVED: Final = (
    *("resolved", "fixed", "solved", "mended", "repaired", "closed", "behoben", "gelöst", "erledigt", "opgelost"),
    *("résolu", "corrigé", "resuelt", "corregid", "solucionad", "risolt", "corrett", "resolvid", "corrigid"),
    *("исправлен", "решено", "решена", "решены", "устранен", "解決", "修正", "解决", "修复", "已解决", "已修复"),
)
DECIDED: Final = (
    *(" decid", " decision", " chose", " agreed", " settled on", " instead of", " rather than", " opted", " statt "),
    *(" entsch", " beschloss", " décid", " decis", " choisi", " elegi", " escolh", " решил", " решено", " решение"),
    *(" договори", " выбра", " вместо", "決め", "決定", "採用", "决定", "采用", "选择"),
)
FAILED: Final = (
    *(" fail", " broke", " crash", " revert", " rolled back", " did not work", " didn't work", " does not work"),
    *(" gave up", " abandon", " dead end", " deadlock"),
    *(" gescheitert", " fehlgeschlagen", " schlug fehl", " verworfen"),
    *(" échou", " échec", " falló", " fracas", " не удалось", " не сработал", " откат", "失敗", "断念", "失败", "回滚"),
)
_BLANKS = str.maketrans(dict.fromkeys('()[]{}<>"`*_-\u2013\u2014\u00ab\u201e\u201c', " "))


def says(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text has one of these words."""
    plain = " " + text.casefold().translate(_BLANKS)
    return any(word in plain for word in words)
