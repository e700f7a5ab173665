"""Plans what the records of a source become here: ids, references, parents, states and parts; nothing is written."""
