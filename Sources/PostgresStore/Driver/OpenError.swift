extension PostgresStore {
    /// The reason for which a database cannot be used. Its description is a sentence with advice and contains no password.
    public enum OpenError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The server cannot be reached, or takes no connections at present.
        case unreachable(reason: String)
        /// The server takes connections, and refuses this one.
        case refused(reason: String)
        /// The server acknowledges changes before they are durable; the text names the setting.
        case notDurable(setting: String)
        /// The server's isolation level hides concurrent commits from a running transaction; the text names the level.
        case notReadCommitted(isolation: String)
        /// The schema contains tables of another program.
        case notADatabase
        /// A newer program has brought the schema to `version`, and only programs that know `readableBy` can work on it.
        case newerDatabase(version: Int, readableBy: Int, newestKnown: Int)
        /// The step drops what programs before `readableBy` need, and such programs may still run. With `isRetired`, the step
        /// `readableBy` is applied, so that the start of a release between would prove nothing.
        case contractsEarly(version: Int, readableBy: Int, isRetired: Bool)
        /// The database has applied a migration of that number that differs from the one in this program.
        case changedMigration(version: Int)
        /// The database refuses reads or changes.
        case failed(reason: String)

        /// Runs `body` and converts its error to the matching error of opening the database.
        static func mapping<Value>(
            _ url: String, _ body: () throws(DatabaseError) -> Value
        ) throws(OpenError) -> Value {
            do throws(DatabaseError) {
                return try body()
            } catch {
                switch error {
                case .lost(let message): throw .unreachable(reason: message)
                case .refused, .forgotten, .contradiction, .overtaken, .outgrown:
                    throw .failed(reason: error.description)
                }
            }
        }

        /// Makes a connection, and tells a server that is down from one that refuses this connection.
        ///
        /// libpq gives no code for the failure of a connection, and the server's texts come in its own language. So `PQping` tells
        /// whether the server takes connections, before and after a second attempt that fails as well.
        static func connection(to url: String, _ options: Options) throws(OpenError) -> Connection {
            var reason = ""
            for _ in 0..<2 {
                do throws(DatabaseError) {
                    return try Connection(url: url, options)
                } catch {
                    reason = if case .lost(let message) = error { message } else { error.description }
                    if Library.shared.failure != nil { throw .failed(reason: reason) }
                    let isRefused =
                        !advice(reason).isEmpty || reason.contains("does not support SSL")
                        || Connection.isAnswered(url: url, atMost: options.connectPatience)
                    if !isRefused || mayPass(reason) { throw .unreachable(reason: reason) }
                }
            }
            throw .refused(reason: reason)
        }

        /// Whether a text is PgBouncer's, which answers while the server behind it is down, or says that there are too many
        /// connections.
        private static func mayPass(_ reason: String) -> Bool {
            [
                "server login has been failing", "server_login_retry", "cannot connect to server",
                "server conn crashed",
                "server_connect_timeout", "query_wait_timeout", "client_login_timeout", "no more connections allowed",
                "too many clients", "too many connections", "connection slots are reserved",
                "pgbouncer is shutting down",
                "server is not running",
            ].contains { reason.contains($0) }
        }

        /// Advice that the messages of libpq do not contain.
        private static func advice(_ reason: String) -> String {
            if reason.contains("certificate verify failed") {
                return "; sslrootcert must name the authority that signed the server's certificate"
            }
            if reason.contains("does not match host name") {
                return "; sslmode=verify-full wants the name in the URL to be one of the certificate"
            }
            if reason.contains("unsupported startup parameter") {
                return "; PgBouncer knows no options: give the user a search_path (ALTER ROLE … SET), or sojourn a "
                    + "database of its own"
            }
            return ""
        }

        /// The text with its end: some messages of libpq end with a question.
        private static func sentence(_ text: String) -> String { text.hasSuffix("?") ? text : text + "." }

        /// A sentence that says what is wrong and what to do.
        public var description: String {
            switch self {
            case .unreachable(let reason):
                "The PostgreSQL database cannot be reached: \(Self.sentence(reason + Self.advice(reason)))"
            case .refused(let reason):
                "The PostgreSQL server refuses the connection: \(Self.sentence(reason + Self.advice(reason)))"
            case .notDurable(let setting):
                "The PostgreSQL server acknowledges changes that a crash can take back (\(setting) is off). Turn it on, for "
                    + "this database at least (ALTER DATABASE … SET), or people will be logged out by a crash."
            case .notReadCommitted(let isolation):
                "The PostgreSQL server isolates transactions as '\(isolation)', so that a refresh would not see that its user was "
                    + "disabled meanwhile. Let default_transaction_isolation be 'read committed', for this database at least "
                    + "(ALTER DATABASE … SET)."
            case .notADatabase:
                "The PostgreSQL database holds tables that are not of this program. Name another database, or another schema "
                    + "(?options=-csearch_path%3Dsojourn); this one was not touched."
            case .newerDatabase(let version, let readableBy, let newestKnown):
                "The PostgreSQL database is at version \(version) of its schema, which programs from version \(readableBy) on can "
                    + "work on, and this program knows only up to \(newestKnown). Run the newer program, or restore the backup "
                    + "from before it was upgraded."
            case .contractsEarly(let version, let readableBy, let isRetired):
                "Step \(version) of the schema drops what programs before version \(readableBy) need, and no release between "
                    + "has run on this PostgreSQL database. "
                    + (isRetired ? "Stop" : "Let all nodes run that release first, or stop")
                    + " all nodes and run 'sojourn migrate --contract'. Nothing was dropped."
            case .changedMigration(let version):
                "The PostgreSQL database was built with another text of migration \(version) than this program has. "
                    + "Run the program that built it: a released migration never changes."
            case .failed(let reason): "The PostgreSQL database cannot be used: \(reason)."
            }
        }
    }
}
