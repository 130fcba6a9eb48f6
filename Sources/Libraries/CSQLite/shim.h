#pragma once
#include <sqlite3.h>

// Wrappers for functions that Swift cannot call: variadic ones, and macros with a cast.

/// Stops SQLite from counting its memory, because each count takes a lock. It must be called before the first connection of
/// the process is opened; later it has no effect.
static inline void CSQLite_stop_counting_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Sets one flag of a connection; returns SQLite's result code.
static inline int CSQLite_set_flag(sqlite3 *connection, int flag, int value) {
    int set = 0;
    return sqlite3_db_config(connection, flag, value, &set);
}

/// Binds a text that SQLite copies.
static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds bytes that SQLite copies.
static inline int CSQLite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Waits until everything written to the main file, by any connection, is on the disk; returns SQLite's result code.
static inline int CSQLite_sync(sqlite3 *connection) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    return file->pMethods ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : SQLITE_MISUSE;
}
