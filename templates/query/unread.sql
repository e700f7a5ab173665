-- What waits for a reader: open handoffs, and findings without an answer?
SELECT repo, task, what, who, since, text, path
FROM (
    SELECT repo, task, 'handoff' AS what, phase AS who, created_at AS since, NULL AS text, path, 0 AS number
    FROM handoffs
    WHERE status = 'open'
    UNION ALL
    SELECT repo, task, concat('finding on ', role), raised_by, NULL, text, path, number
    FROM findings
    WHERE open
)
ORDER BY repo, path, number
