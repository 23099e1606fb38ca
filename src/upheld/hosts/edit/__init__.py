"""Edit a file that belongs to somebody else, and keep every byte that is not ours.

A host's configuration is shared: the user, the host and other tools write it too. So nothing here
parses a file and prints it again. `spans` finds where values stand in JSON text, `groups` puts one
item in and takes exactly it out again, `tables` does the same for a TOML table, and `files` writes
the result in one step. What to put in is the host's business, not this package's.
"""

from upheld.hosts.edit.errors import EditRefusedError, FileChangedError
from upheld.hosts.edit.files import Target, back_up, check_unchanged, decode, read_target, remove_file, replace_file
from upheld.hosts.edit.groups import Splice, append_item, find_array, remove_item, replace_scalar
from upheld.hosts.edit.spans import Node, parse_document
from upheld.hosts.edit.tables import append_table, load_toml, remove_table, update_table

__all__ = [
    "EditRefusedError",
    "FileChangedError",
    "Node",
    "Splice",
    "Target",
    "append_item",
    "append_table",
    "back_up",
    "check_unchanged",
    "decode",
    "find_array",
    "load_toml",
    "parse_document",
    "read_target",
    "remove_file",
    "remove_item",
    "remove_table",
    "replace_file",
    "replace_scalar",
    "update_table",
]
