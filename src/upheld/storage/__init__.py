"""SQLite: where our databases are, opening and migrating them, transactions, and the chain over the audit trail."""
