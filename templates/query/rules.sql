-- Which lint rules are broken, how often, and in how many files?
SELECT code, name, severity, count(*) AS findings, count(DISTINCT (repo, path)) AS files,
    count(DISTINCT repo) AS repositories, count(*) FILTER (fixable) AS fixable
FROM lint
GROUP BY code, name, severity
ORDER BY findings DESC, code, severity
