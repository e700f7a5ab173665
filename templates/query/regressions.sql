-- Which checks passed before the work and do not pass now?
SELECT now.repo, now.task, now.name, now.role, now.text, before.text AS text_before, now.happened_at, now.path
FROM checks AS before JOIN checks AS now USING (repo, path, name)
WHERE before.role = 'baseline' AND before.ok AND now.role <> 'baseline' AND NOT now.ok
ORDER BY now.repo, now.path, now.name, now.role
