public import Cryptography
public import Endpoints
public import Federation
public import HTTP
public import HTTPClient
public import Sessions
public import Sockets
public import Telemetry

/// What an operator decides before the start. What admins change while the server runs is in the database instead
/// (`SessionSettings`).
///
/// Every value has a default, one key (`ConfigurationKey.all`), and by it a place in the file, a variable in the
/// environment and a line in `config/sojourn.json5`.
public struct Configuration: Hashable, Sendable {
    /// Who listens where, under which name.
    public struct Server: Hashable, Sendable {
        /// Where apps come in.
        public var publicListen = SocketAddress.ipv4(bytes: [127, 0, 0, 1], port: 8080)
        /// Where admins come in: another port, so that a proxy cannot publish it by accident.
        public var adminListen = SocketAddress.ipv4(bytes: [127, 0, 0, 1], port: 8081)
        /// The mode of the public listener's file, when it is a Unix socket.
        public var unixSocketMode: UInt32 = 0o660
        /// Whether a second process may take the ports while this one serves, to go on when it stops.
        public var reusesPort = false
        /// Whose word about clients is believed.
        public var trustedProxies: [AddressRange] = []
        /// Where they say it.
        public var forwardedField = ForwardingField.xForwardedFor
        /// Whether connections to the public listener begin with the header of a proxy.
        public var proxyProtocol = ProxyProtocol.off
        /// The `iss` of every token: the URL at which apps reach the server. Nil: the public address.
        public var issuer: String?
        /// The `aud` of every token: the APIs that accept it. Nil: the issuer.
        public var audience: String?
        /// What the metadata says that clients may ask for (RFC 8414 section 2), parted by spaces. Nil: nothing.
        public var scopesSupported: String?
        /// The certificate of the public listener and its intermediates, in PEM. Nil: no TLS.
        public var tlsCertificate: String?
        /// Its key, in PEM.
        public var tlsKey: String?
        /// The certificate of the admin listener and its intermediates, in PEM. Nil: no TLS.
        public var adminTLSCertificate: String?
        /// Its key, in PEM.
        public var adminTLSKey: String?
        /// Who signs the certificates that admins' programs must show, in PEM. Nil: none is asked for.
        public var adminClientCA: String?
    }

    /// Whether a proxy that passes bytes on, not requests, says first for whom it connects.
    public enum ProxyProtocol: String, CaseIterable, Hashable, Sendable {
        /// Connections begin with TLS or a request.
        case off
        /// Connections begin with a header of the PROXY protocol, version 1 or 2, and come from trusted proxies only.
        case required
    }

    /// Where everything is kept.
    public struct Database: Hashable, Sendable {
        /// The two kinds of databases.
        public enum Place: Hashable, Sendable {
            /// A file; a relative path starts at the working directory.
            case sqlite(path: String)
            /// A server, by the URL that libpq reads, which may hold a password.
            case postgres(url: String)
        }

        /// Where it is.
        public var place = Place.sqlite(path: "sojourn.sqlite")

        /// The path of the SQLite file. With PostgreSQL what lies beside it lies in the working directory.
        public var path: String {
            get {
                switch place {
                case .sqlite(let path): path
                case .postgres: "sojourn"
                }
            }
            set { place = .sqlite(path: newValue) }
        }
        /// Whether it is a file.
        public var isFile: Bool {
            if case .sqlite = place { return true }
            return false
        }
        /// As it is written in a configuration, without a password: `sqlite:PATH`, `postgres://…`.
        public var url: String {
            switch place {
            case .sqlite(let path): "sqlite:\(path)"
            case .postgres(let url): DatabaseURL.withoutPasswords(url)
            }
        }
        /// The folder of what the server keeps.
        public var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }
        /// The Unix socket over which the command line speaks to the server that has the database open.
        public var socketPath: String { path + ".sock" }
    }

    /// The keys of the server.
    public struct Keys: Hashable, Sendable {
        /// The file of the root keys. Nil: beside the database.
        public var rootKeyFile: String?
        /// What signs rolling tokens.
        public var algorithm = SignatureAlgorithm.es256
        /// How often a new signing key is made.
        public var rotationDays = 30
    }

    /// What no admin can raise at run time.
    public struct Sessions: Hashable, Sendable {
        /// The longest stay of all, from the interactive login.
        public var absoluteMaximum = Duration.seconds(31_536_000)
    }

    /// What proofs of possession (RFC 9449) have to be like.
    public struct DPoP: Hashable, Sendable {
        /// Whether a proof must hold a nonce of the server.
        public var nonce = DPoPPolicy.NonceRequirement.off
        /// How long after it was made a proof is taken.
        public var proofAge = Duration.seconds(60)
        /// How far the clock of a device may be ahead.
        public var proofLead = Duration.seconds(15)
        /// How many proofs are remembered, so that none is taken twice.
        public var proofMemory = 100_000

        /// The same, as the domain takes it.
        var policy: DPoPPolicy { DPoPPolicy(age: proofAge, lead: proofLead, nonce: nonce, memory: proofMemory) }
    }

    /// Somebody who is told what has happened.
    public struct Webhook: Hashable, Sendable {
        /// What tells it from others, and by which the database knows how far it is.
        public var name: String
        /// Where events are sent.
        public var url: OutboundURL
        /// The file of the secrets that sign them. Nil: they are in a variable.
        public var secretFile: String?
        /// Which events are sent.
        public var events = Events.usual

        /// A choice among the events of the audit trail.
        public enum Events: Hashable, Sendable {
            /// What mails are made of, and whatever the feed of revocations has: who takes these needs no feed.
            case usual
            /// Those, and no others.
            case named(Set<AuditEvent.Kind>)

            private static let ofMails: Set<AuditEvent.Kind> = [
                .sessionStarted, .sessionEnded, .refreshTokenMisused, .loginsDisabled, .loginsEnabled,
                .passwordChanged, .emailChanged, .userDeleted, .clientDeleted, .allSessionsRevoked,
            ]

            /// Whether `recorded` is among them.
            func contains(_ recorded: RecordedEvent) -> Bool {
                switch self {
                case .usual: recorded.revocation != nil || Self.ofMails.contains(recorded.event.kind)
                case .named(let kinds): kinds.contains(recorded.event.kind)
                }
            }
        }

        /// What all their variables begin with.
        static let secretVariablePrefix = "SOJOURN_WEBHOOK_SECRET_"
        /// The variable of the environment that takes the place of the file.
        public var secretVariable: String {
            Self.secretVariablePrefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
        }
    }

    /// Where network addresses are.
    public struct Geo: Hashable, Sendable {
        /// The file that says it, in MaxMind's format; nil: nothing does.
        public var database: String?
    }

    /// How fast the rows of what is over leave the database, and when.
    public struct CleanUp: Hashable, Sendable {
        /// Rows that are looked at, and deleted at most, in a second: a bound on the writes of clean-up.
        public var rowsPerSecond = 5000
        /// Rows of one step: a few milliseconds of the writer.
        public var stepSize = 256
        /// How long the audit trail keeps an event; 0: for ever.
        public var auditRetentionDays = 365

        /// Between two steps.
        var pause: Duration { .seconds(1) * Double(stepSize) / Double(rowsPerSecond) }
        /// How long the audit trail keeps an event; nil: for ever.
        var auditRetention: Duration? { auditRetentionDays == 0 ? nil : .seconds(86400 * auditRetentionDays) }
    }

    /// What the log says, and how.
    public struct Log: Hashable, Sendable {
        /// Lines below it are not written.
        public var level = LogLevel.info
        /// How a line looks.
        public var format = Logger.Format.json

        /// What a log says, and how.
        public init(level: LogLevel = .info, format: Logger.Format = .json) {
            self.level = level
            self.format = format
        }
    }

    /// Who listens where, under which name.
    public var server = Server()
    /// Where everything is kept.
    public var database = Database()
    /// The keys of the server.
    public var keys = Keys()
    /// What no admin can raise at run time.
    public var sessions = Sessions()
    /// What proofs of possession have to be like.
    public var dpop = DPoP()
    /// Who may vouch for users.
    public var identityProviders: [IdentityProvider] = []
    /// A limit for everything that a client can make grow or wait.
    public var limits = ServerLimits()
    /// How fast the rows of what is over leave the database, and when.
    public var cleanUp = CleanUp()
    /// Who is told what has happened.
    public var webhooks: [Webhook] = []
    /// Where network addresses are.
    public var geo = Geo()
    /// What the log says, and how.
    public var log = Log()

    /// The defaults.
    public init() {}

    /// Where the root keys are: `keys.root_key_file`, or beside the database.
    public var rootKeyFile: String { keys.rootKeyFile ?? database.path + ".root-key" }
}

/// A limit for everything that a client can make grow or wait.
public struct ServerLimits: Hashable, Sendable {
    /// The request line, in bytes. Beyond: 414.
    public var requestLineBytes = 8192
    /// The lines of a request's head. Beyond: 431.
    public var fieldCount = 100
    /// The lines of a request's head together, in bytes. Beyond: 431.
    public var fieldBytes = 16384
    /// The content of a request, in bytes. Beyond: 413.
    public var bodyBytes = 65536
    /// From the first byte of a request to the end of its head. Beyond: 408.
    public var headerTimeout = Duration.seconds(10)
    /// How long content may take, and again as long each time that enough of it came meanwhile. Beyond: 408.
    public var bodyTimeout = Duration.seconds(30)
    /// What is enough of it, in bytes per second. Beyond: 408.
    public var bodyMinimumRate = 500
    /// Between two requests of a connection. Beyond: closed.
    public var idleTimeout = Duration.seconds(75)
    /// How long a client may take for an answer, and again as long each time that it took enough meanwhile. Beyond: cut.
    public var writeTimeout = Duration.seconds(30)
    /// What is enough of it, in bytes per second. Beyond: cut.
    public var writeMinimumRate = 500
    /// How long an answer may take. Beyond: 503.
    public var requestTimeout = Duration.seconds(15)
    /// How long, when the server stops, an idle connection may still ask.
    public var stopGrace = Duration.seconds(1)
    /// How long a stop waits for the requests that run.
    public var stopTimeout = Duration.seconds(20)
    /// Connections of all listeners together. Beyond: 503.
    public var connections = 10_000
    /// Connections from one address; 0: no limit. Beyond: 503.
    public var connectionsPerAddress = 0
    /// How many leading bits of an IPv6 address count as one address.
    public var ipv6PrefixBits = 64
    /// Requests of one connection, which then closes; 0: no limit.
    public var requestsPerConnection = 100_000
    /// Requests of one listener that are being answered at one time. Beyond: 503.
    public var pendingRequests = 4096
    /// Long polls and streams at one time.
    public var subscribers = 1024
    /// Memory for unfinished requests and answers beyond 4 KiB of each connection, in bytes. Beyond: 503.
    public var bufferedBytes = 67_108_864
    /// Handshakes of TLS that compute at one time; 0: one for each core.
    public var tlsHandshakeWidth = 0
    /// Steps of handshakes that wait for that. Beyond: closed.
    public var tlsHandshakesWaiting = 1024
    /// Event loops; 0: one for each core.
    public var eventLoops = 0
    /// Passwords that are hashed at the same time, each with 128 MiB of memory.
    public var passwordHashWidth = 2
    /// Passwords that are hashed or wait for it, in each of the hasher's rooms. Beyond: 503.
    public var passwordHashPending = 64
    /// What a new password must be.
    public var passwords = PasswordRules()
    /// How long a token for a new password works.
    public var resetTokenLifetime = Duration.seconds(3600)
    /// When wrong passwords of one user have to wait. Beyond: 429.
    public var failedAttempts = LockoutPolicy()
    /// How often may be tried what could be guessing. Beyond: 429.
    public var doors = RateLimits()

    /// The defaults.
    public init() {}
}
