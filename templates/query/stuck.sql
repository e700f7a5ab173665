-- Which tasks are stuck: blocked, at work without a write, or with a turn that nobody ended?
-- $days = 30: in progress, and not written for so many days
-- $hours = 24: a turn that has been open for longer than so many hours
SELECT repo, task, why, since, title, path
FROM (
    SELECT repo, task, concat_ws(': ', 'blocked', blocked_reason) AS why, updated_at AS since, title, path
    FROM tasks
    WHERE status = 'blocked'
    UNION ALL
    SELECT repo, task, 'in progress without a write', updated_at, title, path
    FROM tasks
    WHERE status = 'in_progress' AND updated_at < $now::TIMESTAMP - to_days($days::INTEGER)
    UNION ALL
    SELECT repo, task, concat_ws(' ', 'an open turn', turn_agent, turn_role), turn_started_at, title, path
    FROM tasks
    WHERE turn_started_at < $now::TIMESTAMP - to_hours($hours::BIGINT)
)
ORDER BY since NULLS FIRST, repo, path, why
