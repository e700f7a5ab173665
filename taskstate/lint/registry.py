"""The rules, in the order of their codes: adding a rule is adding its file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.rules.chain import placeholder
from taskstate.lint.rules.checklist import (
    checklist_schema,
    feature_id_duplicate,
    passes_without_proof,
    progress_differs,
)
from taskstate.lint.rules.file import (
    control_characters,
    fence_unclosed,
    file_name,
    front_matter_missing,
    front_matter_yaml,
    json_invalid,
    merge_conflict,
    not_utf8,
    unsupported_version,
)
from taskstate.lint.rules.front_matter import counts_differ, front_matter_schema, timestamp_format, unknown_key
from taskstate.lint.rules.sections import (
    hidden_section,
    section_duplicate,
    section_missing,
    section_order,
    subsection_missing,
    title_mismatch,
)
from taskstate.lint.rules.sessions import session_field_missing, session_heading, session_number, session_time
from taskstate.lint.rules.size import size_limit, size_warning, too_large_to_archive

if TYPE_CHECKING:
    from types import ModuleType

RULES: tuple[ModuleType, ...] = (
    not_utf8,
    front_matter_missing,
    front_matter_yaml,
    fence_unclosed,
    json_invalid,
    control_characters,
    merge_conflict,
    file_name,
    unsupported_version,
    front_matter_schema,
    unknown_key,
    timestamp_format,
    counts_differ,
    section_missing,
    section_order,
    section_duplicate,
    title_mismatch,
    hidden_section,
    subsection_missing,
    checklist_schema,
    feature_id_duplicate,
    passes_without_proof,
    progress_differs,
    session_heading,
    session_number,
    session_time,
    session_field_missing,
    size_warning,
    size_limit,
    too_large_to_archive,
    placeholder,
)
