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
CHOSEN: Final = (
    *(" decid", " decision", " chose", " agreed", " settled on", " opted", " entsch", " beschloss", " décid", " decis"),
    *(" choisi", " elegi", " escolh", " решил", " решено", " решение", " договори", " выбра"),
    *("決め", "決定", "採用", "决定", "采用", "选择"),
)
DECIDED: Final = (*CHOSEN, " instead of", " rather than", " statt ", " вместо")
GIVEN_UP: Final = (" revert", " rolled back", " gave up", " abandon", " verworfen", " откат", "断念", "回滚")
FAILED: Final = (
    *GIVEN_UP,
    *(" fail", " broke", " crash", " did not work", " didn't work", " does not work", " dead end", " deadlock"),
    *(" gescheitert", " fehlgeschlagen", " schlug fehl", " échou", " échec", " falló", " fracas"),
    *(" не удалось", " не сработал", "失敗", "失败"),
)
TRIED: Final = (" tried", " trying", " attempt", " versuch", " essay", " intent", " попроб", " пытал", "試", "尝试")
_BLANKS = str.maketrans(dict.fromkeys('()[]{}<>"`*_-\u2013\u2014\u00ab\u201e\u201c', " "))


def says(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text has one of these words."""
    return place_of(text, words) >= 0


def place_of(text: str, words: tuple[str, ...]) -> int:
    """Return where the first of these words is in a text, -1 where there is none."""
    plain = " " + text.casefold().translate(_BLANKS)
    return min((place for word in words if (place := plain.find(word)) >= 0), default=-1)
