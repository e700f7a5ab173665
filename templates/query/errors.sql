-- Which repositories and files, and which parts of files, could not be read?
SELECT repo, path, state, is_read, NULL AS error
FROM files
WHERE state <> 'ok'
UNION ALL
SELECT repo, NULL, status, false, error
FROM repos
WHERE status IN ('error', 'crashed')
ORDER BY repo, path NULLS FIRST
