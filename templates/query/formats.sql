-- Which versions of the format are there, and which files have an older form?
SELECT type, format_version, older_form, count(*) AS files, min(path) AS example
FROM files
GROUP BY ALL
ORDER BY type, format_version NULLS FIRST, older_form NULLS FIRST
