"""Impact Maps for tests, and strategies for any map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from taskstate.model.impact_map import ImpactMap, map_of

if TYPE_CHECKING:
    from typing import Any


def module(name: str, *needs: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any key of an entry
    """Return the entry of a module in the folder of its name."""
    return {"id": name, "paths": [f"{name}/**"], "depends_on": [*needs], **more}


def chain(*names: str, **lists: Any) -> ImpactMap:  # noqa: ANN401 - interfaces and ripple paths
    """Return a map in which each module needs the next one."""
    modules = [module(name, *names[at + 1 : at + 2]) for at, name in enumerate(names)]
    return map_with(*modules, **lists)


def map_with(*modules: dict[str, Any], **lists: Any) -> ImpactMap:  # noqa: ANN401 - interfaces and ripple paths
    """Return a map with these modules."""
    return map_of({"modules": [*modules], "interfaces": [], "ripple_paths": [], **lists})


NAMES = ("a", "b", "c", "d", "e", "f")


@st.composite
def maps(draw: st.DrawFn) -> ImpactMap:
    """Any map of a few modules, circles included; ids that no module has are possible where modules are left out."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=len(NAMES)))
    some = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)
    modules = [module(name, *draw(some), planned=draw(st.booleans())) for name in names]
    pairs = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2)
    interfaces = [
        {"id": name, "between": draw(pairs), "contract": draw(st.sampled_from("xyz"))}
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    ]
    ripples = [
        {"id": name, "path": draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4))}
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    ]
    return map_with(*modules, interfaces=interfaces, ripple_paths=ripples)
