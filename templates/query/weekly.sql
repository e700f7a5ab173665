-- How many sessions were there in each week, and how many tasks were created and completed?
-- $weeks = 12: so many weeks up to now
WITH happened AS (
    SELECT 'session' AS what, happened_at FROM sessions
    UNION ALL SELECT 'created', created_at FROM tasks
    UNION ALL SELECT 'completed', completed_at FROM tasks
)
SELECT date_trunc('week', happened_at)::DATE AS week, count(*) FILTER (what = 'session') AS sessions,
    count(*) FILTER (what = 'created') AS created, count(*) FILTER (what = 'completed') AS completed
FROM happened
WHERE happened_at > date_trunc('week', $now::TIMESTAMP) - to_weeks($weeks::INTEGER) AND happened_at <= $now::TIMESTAMP
GROUP BY week
ORDER BY week
