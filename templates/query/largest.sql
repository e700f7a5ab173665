-- Which files are the largest?
-- $count = 20: so many files
SELECT repo, path, type, files.bytes, t.sessions, t.features
FROM files LEFT JOIN tasks AS t USING (repo, path)
ORDER BY files.bytes DESC NULLS LAST, repo, path
LIMIT $count
