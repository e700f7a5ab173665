-- Which open tasks wait for another one: unknown, dropped, not complete, or in a circle?
-- $circle = 20: circles of at most so many tasks are found
WITH RECURSIVE known AS (
    SELECT repo, task_key, min(status) AS status FROM tasks GROUP BY repo, task_key
), waits AS (
    SELECT t.repo, t.task, t.task_key, d.upstream, d.upstream_key, k.status, t.path
    FROM tasks AS t JOIN dependencies AS d USING (repo, path)
    LEFT JOIN known AS k ON k.repo = d.repo AND k.task_key = d.upstream_key
    WHERE t.status NOT IN ('complete', 'dropped') AND k.status IS DISTINCT FROM 'complete'
), ways AS (
    SELECT repo, task_key, upstream_key, 1 AS steps FROM waits
    UNION
    SELECT ways.repo, ways.task_key, w.upstream_key, ways.steps + 1
    FROM ways JOIN waits AS w ON w.repo = ways.repo AND w.task_key = ways.upstream_key
    WHERE ways.steps < $circle AND ways.upstream_key <> ways.task_key
), circles AS (
    SELECT DISTINCT repo, task_key, upstream_key FROM ways
)
SELECT w.repo, w.task, w.upstream,
    CASE
        WHEN w.task_key = w.upstream_key OR c.task_key IS NOT NULL THEN 'in a circle'
        ELSE coalesce(w.status, 'unknown')
    END AS upstream_is,
    w.path
FROM waits AS w
LEFT JOIN circles AS c ON c.repo = w.repo AND c.task_key = w.upstream_key AND c.upstream_key = w.task_key
ORDER BY w.repo, w.path, w.upstream
