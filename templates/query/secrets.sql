-- Where does something look like a credential, and what kind of one?
SELECT repo, path, line, col, message
FROM lint
WHERE code = 'TS951'
ORDER BY repo, path, line, col, ordinal
