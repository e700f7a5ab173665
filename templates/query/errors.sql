-- Which files, and which parts of files, could not be read?
SELECT repo, path, state, is_read
FROM files
WHERE state <> 'ok'
ORDER BY repo, path
