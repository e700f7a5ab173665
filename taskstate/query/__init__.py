"""Questions over all tasks: what files say as rows of tables, an index of them, and SQL over it behind locks.

`tables`, `rows` and `task_rows` are pure: the rows of a file are a function of its bytes. Only `index` reads a
repository, and only `engine` knows DuckDB.
"""
