import CSQLite
import Cryptography
import Glibc

/// The limits of this machine for each part of a refresh, measured separately on one thread.
struct MachineLimits {
    private static let seconds = 1.0

    let folder: String

    /// Returns ES256 signatures per second.
    static func signatures() -> Double {
        let key = SigningKey.generate(.es256)
        let message = randomBytes(count: 600)
        return rate(seconds: seconds) {
            for _ in 0..<100 { _ = key.sign(message) }
            return 100
        }
    }

    /// Appends 4 KiB to a file and syncs it, repeatedly for one second. Returns the milliseconds of each sync.
    func diskSyncs() throws -> [Double] {
        let path = "\(folder)/sync"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.system(path) }
        defer {
            close(file)
            unlink(path)
        }
        let page = randomBytes(count: 4096)
        var times: [Double] = []
        _ = try rate(seconds: Self.seconds) {
            let start = monotonicNanoseconds()
            guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else { throw Failure.system(path) }
            times.append(Double(monotonicNanoseconds() - start) / 1e6)
            return 1
        }
        return times
    }

    /// Returns the rows that plain SQLite reads and updates per second, with `batch` rows per synced transaction (WAL,
    /// synchronous=FULL).
    func rows(batch: Int) throws -> Double {
        let database = try PlainDatabase(path: "\(folder)/rows-\(monotonicNanoseconds()).sqlite")
        let keys = (0..<10_000).map { _ in randomBytes(count: 16) }
        try database.fill(keys)
        var next = 0
        return try rate(seconds: Self.seconds) {
            try database.run("BEGIN IMMEDIATE")
            for _ in 0..<batch {
                // The rows are far apart in the file, like the sessions of different users.
                next = (next + 7919) % keys.count
                try database.touch(keys[next])
            }
            try database.run("COMMIT")
            return batch
        }
    }
}

/// Plain SQLite with rows of the size of a session's, without any part of the server.
private final class PlainDatabase {
    private var handle: OpaquePointer?
    private var select: OpaquePointer?
    private var update: OpaquePointer?
    private var insert: OpaquePointer?

    init(path: String) throws {
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure() }
        try run("PRAGMA journal_mode = WAL")
        try run("PRAGMA synchronous = FULL")
        try run("CREATE TABLE rows (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, rest BLOB, serial INTEGER)")
        insert = try prepare("INSERT INTO rows (id, rest, serial) VALUES (?, randomblob(150), 1)")
        select = try prepare("SELECT number, rest, serial FROM rows WHERE id = ?")
        update = try prepare("UPDATE rows SET serial = serial + 1 WHERE number = ?")
    }

    deinit {
        for statement in [select, update, insert] { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    func fill(_ keys: [[UInt8]]) throws {
        try run("BEGIN")
        for key in keys {
            CSQLite_bind_blob(insert, 1, key, UInt64(key.count))
            try step(insert, SQLITE_DONE)
        }
        try run("COMMIT")
    }

    /// Reads one row and updates it.
    func touch(_ key: [UInt8]) throws {
        CSQLite_bind_blob(select, 1, key, UInt64(key.count))
        guard sqlite3_step(select) == SQLITE_ROW else { throw failure() }
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(select, 0))
        sqlite3_reset(select)
        try step(update, SQLITE_DONE)
    }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
        return statement
    }

    private func step(_ statement: OpaquePointer?, _ expected: Int32) throws {
        guard sqlite3_step(statement) == expected else { throw failure() }
        sqlite3_reset(statement)
    }

    private func failure() -> Failure { Failure("SQLite: \(String(cString: sqlite3_errmsg(handle)))") }
}
