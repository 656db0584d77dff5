"""Driver errors in plain words: what is wrong, and what to do about it.

Invariant: no message quotes stored text, statements or passwords.
"""

from __future__ import annotations

import sqlite3

import psycopg
from sqlalchemy import exc as sa

from interviewer.service.ports import StoreError

_DISK_FULL = "the disk that holds the database is full: free some space, then try again"
_READ_ONLY = "the database is read-only: make the database file and its folder writable for this user"
_BUSY = "the database is locked by another process: close other programs that have it open, then try again"
_LOST = "the database cannot be reached: check that the server runs and that address, user and password are right"
_DAMAGED = "the database file is damaged or not a database: restore it from a backup"

_SQLITE = {
    "SQLITE_FULL": _DISK_FULL,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_CANTOPEN": "the database file cannot be opened: check that its folder exists and is writable for this user",
    "SQLITE_IOERR": "the disk that holds the database fails or is full: check the disk, then try again",
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
}
"""Primary result code -> message; extended codes start with the primary one."""

_POSTGRES = {
    "08": _LOST,
    "25006": "the database is read-only: connect to the primary server, not to a replica",
    "28": "the database refuses the login: check user and password in the database URL",
    "3D": "there is no database of that name on the server: create it first",
    "40": _BUSY,
    "42501": "the database user lacks rights: let it create and change tables in its schema",
    "42P01": "a table is missing: start the program again, so that it creates its tables",
    "53100": _DISK_FULL,
    "53300": "the database has no free connections: raise its limit or run fewer workers",
    "53": "the database server is out of memory or disk: free some, then try again",
    "55": _BUSY,
    "57014": "the database took too long: look for what keeps it busy, then try again",
    "57": "the database server is stopping or starting: try again in a moment",
    "58": "the database server reports a disk failure: check its disk and its log",
}
"""SQLSTATE or its beginning -> message; the longest match counts."""


def translate(error: Exception) -> StoreError:
    """Return the StoreError that says what to do about ``error``."""
    return StoreError(_message(error))


def _message(error: Exception) -> str:
    origin = error.orig if isinstance(error, sa.DBAPIError) else error
    if isinstance(error, sa.TimeoutError):
        return "all database connections are in use: try again, or run more workers"
    if isinstance(origin, sqlite3.Error):
        name = str(getattr(origin, "sqlite_errorname", ""))
        found = next((text for code, text in _SQLITE.items() if name.startswith(code)), None)
        return found or f"the database failed ({name or type(origin).__name__}): {origin}"
    if isinstance(origin, psycopg.Error):
        state = origin.sqlstate or ""
        for length in (5, 2):
            if len(state) >= length and state[:length] in _POSTGRES:
                return _POSTGRES[state[:length]]
        if isinstance(origin, psycopg.OperationalError) and not state:
            return _LOST
        return f"the database failed ({state or 'no code'}, {type(origin).__name__})"
    return f"the database failed ({type(origin).__name__})"


def is_duplicate(error: sa.IntegrityError) -> bool:
    """Return whether a row with that key exists already."""
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorname in ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE")
    return isinstance(error.orig, psycopg.errors.UniqueViolation)
