public import Foundation
public import SojournClient

#if os(Linux)
    import Glibc
#endif

/// The real server on a database of its own, for a test.
///
/// On Linux `start` starts the program `sojourn` in a temporary folder, on free ports. The program is the one that
/// `SOJOURN_BINARY` names, or the one beside the tests, or one in `PATH`. If `SOJOURN_URL` is set, `start` uses the server that
/// runs there, with its admin listener at `SOJOURN_ADMIN_URL` and the admin key in `SOJOURN_ADMIN_KEY`.
///
/// Everything that the test has started ends, and every file is deleted, when nothing refers to the server any more, or when the
/// process of the tests ends.
public final class LocalServer: TestServer {
    /// Why a server could not be used.
    public enum Failure: Error, Hashable, Sendable {
        /// No program was found; the text says where it was looked for, and what names it.
        case noProgram(String)
        /// The program ended, or did not answer; the text is what it wrote on standard error.
        case notReady(String)
        /// The server is not the test's own: it was not started here.
        case notStartedHere
        /// A command of the program failed.
        case commandFailed(String)
    }

    /// How a server is started.
    public struct Options: Sendable {
        /// The database: a URL, or nil for SQLite in the temporary folder.
        public var database: String?
        /// The URL that apps call, if it is not the server's own: that of a proxy.
        public var issuer: URL?
        /// Session settings that are set after the first start.
        public var settings = ServerSettings()
        /// Settings of the client `mobile` that are set after the first start.
        public var client = ClientSettings()
        /// Further variables for the program, for example `SOJOURN_DPOP_NONCE`.
        public var environment: [String: String] = [:]
        /// Whether its clock can be moved, and a login be made in any state: the option `--test-clock`.
        public var hasTestClock = false
        /// Whether the server sends mails, to a `MailReceiver` of the test, and lets strangers make accounts. Only `start` of a program
        /// looks at it.
        public var sendsMails = false

        /// The defaults of the program.
        public init() {}
    }

    /// The admin listener.
    public let adminURL: URL
    /// The URL for `SojournConfiguration.server`.
    public let url: URL
    /// The public listener itself, which is behind `url`.
    public let directURL: URL
    let adminKey: String
    /// The forms by which the devices of `requestLogin` ask for their results, by login.
    let devices = Guarded<[String: [String: String]]>([:])

    #if os(Linux)
        let running: Running?
        /// The mail server, if there is one.
        public let mails: MailReceiver?

        init(
            _ running: Running?, url: URL, directURL: URL, adminURL: URL, adminKey: String,
            mails: MailReceiver? = nil
        ) {
            (self.running, self.url, self.directURL) = (running, url, directURL)
            (self.adminURL, self.adminKey, self.mails) = (adminURL, adminKey, mails)
        }
    #else
        init(url: URL, adminURL: URL, adminKey: String) {
            (self.url, directURL, self.adminURL, self.adminKey) = (url, url, adminURL, adminKey)
        }
    #endif

    /// Starts a server and waits until it answers.
    public static func start(_ options: Options = Options()) async throws -> LocalServer {
        let environment = ProcessInfo.processInfo.environment
        if let text = environment["SOJOURN_URL"], let url = URL(string: text),
            let admin = environment["SOJOURN_ADMIN_URL"].flatMap({ URL(string: $0) }),
            let key = environment["SOJOURN_ADMIN_KEY"]
        {
            #if os(Linux)
                let server = LocalServer(nil, url: url, directURL: url, adminURL: admin, adminKey: key)
            #else
                let server = LocalServer(url: url, adminURL: admin, adminKey: key)
            #endif
            try await server.change(options.settings)
            try await server.change(options.client)
            return server
        }
        #if os(Linux)
            var options = options
            let mails = options.sendsMails ? try MailReceiver() : nil
            if let mails {
                options.environment.merge(
                    [
                        "SOJOURN_MAIL_RELAY": mails.relay, "SOJOURN_MAIL_FROM": "Test <login@sojourn.test>",
                        "SOJOURN_ACCOUNTS_SIGN_UP": "open",
                    ]) { given, _ in given }
            }
            let running = try Running(options)
            let addresses = try await running.begin()
            let server = LocalServer(
                running, url: options.issuer ?? addresses.public, directURL: addresses.public,
                adminURL: addresses.admin, adminKey: running.adminKey, mails: mails)
            try await server.change(options.settings)
            try await server.change(options.client)
            return server
        #else
            throw Failure.noProgram(
                "the server runs on Linux: set SOJOURN_URL, SOJOURN_ADMIN_URL and SOJOURN_ADMIN_KEY")
        #endif
    }

    /// Carries requests to the server.
    public var transport: any Transport {
        #if os(Linux)
            SocketTransport()
        #else
            URLSessionTransport()
        #endif
    }

    /// The code of a mail to a mailbox that is none of `known`, as soon as it has come.
    public func mailedCode(to email: String, besides known: [String] = []) async throws -> String {
        #if os(Linux)
            let mail = try await mails?.mail(to: email) { mail in mail.code.map { !known.contains($0) } ?? false }
            if let code = mail?.code { return code }
        #endif
        throw Failure.notStartedHere
    }

    /// Waits.
    public func letPass(_ duration: Duration) async throws { try await Task.sleep(for: duration) }

    #if os(Linux)
        /// Stops the server in good order (SIGTERM).
        public func stop() async throws { try await own().end(SIGTERM) }

        /// Kills the server (SIGKILL).
        public func kill() async throws { try await own().end(SIGKILL) }

        /// Starts the server again after `stop` or `kill`, on the same ports and the same database; if it runs, it is stopped before.
        public func restart() async throws {
            let running = try own()
            try await running.end(SIGTERM)
            _ = try await running.begin()
        }

        /// Copies the database, while the server runs. Returns the path of the backup, which is deleted with the server.
        public func backup() async throws -> String { try await own().backup() }

        /// Replaces the database by a backup, and starts the server again.
        public func restore(_ backup: String) async throws {
            let running = try own()
            try await running.end(SIGTERM)
            try await running.restore(backup)
            _ = try await running.begin()
        }

        private func own() throws -> Running {
            guard let running else { throw Failure.notStartedHere }
            return running
        }
    #endif
}
