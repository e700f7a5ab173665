-- Which roles found that their work was changed by others, and how often?
SELECT repo, task, role, role_status, drift_budget, taken_at, path
FROM snapshots
WHERE drift_budget > 0
ORDER BY drift_budget DESC, repo, path, role
