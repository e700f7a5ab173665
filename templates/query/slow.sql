-- How many sessions and days do tasks take, by area, priority and agent?
-- $least = 1: groups of at least so many complete tasks
WITH spans AS (
    SELECT t.repo, t.path, t.sessions, coalesce(t.area, '') AS area, coalesce(t.priority, '') AS priority,
        coalesce(t.agent, '') AS agent, date_diff('day', min(s.happened_at), max(s.happened_at)) AS days
    FROM tasks AS t LEFT JOIN sessions AS s ON s.repo = t.repo AND s.task = t.task
    WHERE t.status = 'complete' AND t.kind = 'task' AND t.sessions > 0
    GROUP BY ALL
), groups AS (
    SELECT 'all' AS grouped_by, '' AS value, sessions, days FROM spans
    UNION ALL SELECT 'area', area, sessions, days FROM spans
    UNION ALL SELECT 'priority', priority, sessions, days FROM spans
    UNION ALL SELECT 'agent', agent, sessions, days FROM spans
)
SELECT grouped_by, value, count(*) AS tasks,
    median(sessions) AS sessions_median, quantile_cont(sessions, 0.9) AS sessions_90, max(sessions) AS sessions_most,
    median(days) AS days_median, quantile_cont(days, 0.9) AS days_90, max(days) AS days_most
FROM groups
GROUP BY grouped_by, value
HAVING count(*) >= $least
ORDER BY grouped_by, value
