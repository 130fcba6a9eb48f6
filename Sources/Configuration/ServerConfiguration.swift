public import Cryptography
public import Endpoints
public import Federation
public import HTTP
public import HTTPClient
public import Deliveries
public import Sessions
public import Sockets
public import Telemetry

/// The settings that an operator decides before the start.
///
/// Every value has a default and one key (`ConfigurationKey.all`), which gives it a path in the file, a variable in the
/// environment and a line in `config/sojourn.json5`.
public struct ServerConfiguration: Hashable, Sendable {
    /// The listeners and the name of the server.
    public struct Listeners: Hashable, Sendable {
        /// The address for apps.
        public var publicListen = SocketAddress.ipv4(bytes: [127, 0, 0, 1], port: 8080)
        /// The address for admins: another port, so that a proxy cannot publish it by accident.
        public var adminListen = SocketAddress.ipv4(bytes: [127, 0, 0, 1], port: 8081)
        /// The names by which browsers reach the admin listener, beside those of this machine.
        public var adminHosts: [String] = []
        /// The mode of the public listener's file if it is a Unix socket.
        public var unixSocketMode: UInt32 = 0o660
        /// True if a second process may open the ports while this one serves, to continue when it stops.
        public var reusesPort = false
        /// The proxies that may name the client in a header.
        public var trustedProxies: [AddressRange] = []
        /// The addresses, beside public ones, at which clients may have security events delivered.
        public var privateReceivers: [AddressRange] = []
        /// The header in which proxies name the client.
        public var forwardedField = ForwardingField.xForwardedFor
        /// The mode of the PROXY protocol on the public listener.
        public var proxyProtocol = ProxyProtocol.off
        /// The `iss` of every token: the URL at which apps reach the server. Nil: the public address.
        public var issuer: String?
        /// How the path of the issuer comes in requests, if it has one.
        public var issuerPath = IssuerPath.Arrival.either
        /// The `aud` of every token: the APIs that accept it. Nil: the issuer.
        public var audience: String?
        /// The `scopes_supported` of the metadata (RFC 8414 section 2), separated by spaces. Nil: no scopes.
        public var scopesSupported: String?
        /// The certificate of the public listener and its intermediates, in PEM. Nil: no TLS.
        public var tlsCertificate: String?
        /// Its key, in PEM.
        public var tlsKey: String?
        /// The certificate of the admin listener and its intermediates, in PEM. Nil: no TLS.
        public var adminTLSCertificate: String?
        /// Its key, in PEM.
        public var adminTLSKey: String?
        /// The authorities of the client certificates that the admin listener requires, in PEM. Nil: none is required.
        public var adminClientCA: String?
    }

    /// Whether connections begin with a header of the PROXY protocol, which names the client.
    public enum ProxyProtocol: String, CaseIterable, Hashable, Sendable {
        /// Connections begin with TLS or a request.
        case off
        /// Connections begin with a header of the PROXY protocol, version 1 or 2, and come from trusted proxies only.
        case required
    }

    /// The database.
    public struct Database: Hashable, Sendable {
        /// The two kinds of databases.
        public enum Location: Hashable, Sendable {
            /// A file; a relative path starts at the working directory.
            case sqlite(path: String)
            /// A server, by the URL that libpq reads, which may hold a password.
            case postgres(url: String)
        }

        /// The location of the database.
        public var location = Location.sqlite(path: "sojourn.sqlite")

        /// The path of the SQLite file. With PostgreSQL, the files beside it are in the working directory.
        public var path: String {
            get {
                switch location {
                case .sqlite(let path): path
                case .postgres: "sojourn"
                }
            }
            set { location = .sqlite(path: newValue) }
        }
        /// True if the database is a file.
        public var isFile: Bool {
            if case .sqlite = location { return true }
            return false
        }
        /// The URL in the form of the configuration, without a password: `sqlite:PATH`, `postgres://…`.
        public var url: String {
            switch location {
            case .sqlite(let path): "sqlite:\(path)"
            case .postgres(let url): DatabaseURL.withoutPasswords(url)
            }
        }
        /// The folder of the database and of the files beside it.
        public var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }
        /// The Unix socket between the command line and the server that has the database open.
        public var socketPath: String { path + ".sock" }
    }

    /// The keys of the server.
    public struct Keys: Hashable, Sendable {
        /// The file of the root keys. Nil: beside the database.
        public var rootKeyFile: String?
        /// The algorithm that signs access tokens.
        public var algorithm = SignatureAlgorithm.es256
        /// The days between two signing keys.
        public var rotationDays = 30
    }

    /// The bounds that no admin can raise at run time.
    public struct SessionBounds: Hashable, Sendable {
        /// The longest duration of a session, from the interactive login.
        public var absoluteMaximum = Duration.seconds(31_536_000)
    }

    /// The requirements for DPoP proofs (RFC 9449).
    public struct DPoP: Hashable, Sendable {
        /// Whether a proof must contain a nonce of the server.
        public var nonce = DPoPPolicy.NonceRequirement.off
        /// The age until which a proof is accepted.
        public var proofAge = Duration.seconds(60)
        /// The lead that the clock of a device may have.
        public var proofLead = Duration.seconds(15)
        /// The number of remembered proofs, so that none is accepted twice.
        public var proofMemory = 100_000

        /// The requirements in the terms of the domain.
        public var policy: DPoPPolicy { DPoPPolicy(age: proofAge, lead: proofLead, nonce: nonce, memory: proofMemory) }
    }

    /// Passkeys.
    public struct Passkeys: Hashable, Sendable {
        /// The RP ID: the domain that passkeys belong to. Nil: there are no passkeys.
        public var rpID: String?
        /// The origins of ceremonies. Empty: `https://` and the RP ID.
        public var origins: [String] = []
    }

    /// A receiver of events.
    public struct Webhook: Hashable, Sendable {
        /// The unique name, under which the database keeps the progress.
        public var name: String
        /// The URL to which events are sent.
        public var url: OutboundURL
        /// The file of the secrets that sign events. Nil: the secrets are in a variable.
        public var secretFile: String?
        /// The events that are sent.
        public var events = WebhookEvents.usual

        static let secretVariablePrefix = "SOJOURN_WEBHOOK_SECRET_"
        /// The variable of the environment that replaces the file.
        public var secretVariable: String {
            Self.secretVariablePrefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
        }
    }

    /// The mails to users.
    public struct Mails: Hashable, Sendable {
        /// The relay, as a URL. Nil: none.
        public var relay: String?
        /// The user at the relay. Nil: the relay asks for none.
        public var user: String?
        /// The file of the user's password. Nil: the password is in a variable.
        public var passwordFile: String?
        /// The mechanism of authentication. Nil: the strongest that both know.
        public var mechanism: String?
        /// The certificates that verify the relay, in PEM. Nil: those of the system.
        public var authorities: String?
        /// The name of this machine in EHLO. Nil: the host of the issuer.
        public var helo: String?
        /// The URL of the program that sends mails instead of a relay. Nil: none does.
        public var webhookURL: String?
        /// The file of the secrets that sign what that program gets. Nil: they are in a variable.
        public var webhookSecretFile: String?
        /// The sender. Nil: no mails are sent.
        public var from: String?
        /// The language of mails to users of other languages.
        public var language = "en"
        /// The folder of texts that replace the built-in ones. Nil: none.
        public var templates: String?
        /// Whether the subject has the code.
        public var codeInSubject = false
        /// The mails that are sent at one time, of codes and of notices each.
        public var connections = 2
        /// The mails in a second.
        public var perSecond = 10
        /// The mails in an hour; beyond it notices wait.
        public var perHour = 10_000

        /// The variable of the environment that replaces the password file.
        public static let passwordVariable = SpecialVariable.mailPassword.rawValue
        /// The variable of the environment that replaces the file of the secrets.
        public static let webhookSecretVariable = SpecialVariable.mailWebhookSecret.rawValue

        /// Whether mails are sent.
        public var areSent: Bool { relay != nil || webhookURL != nil }
    }

    /// The locations of network addresses.
    public struct Geo: Hashable, Sendable {
        /// The geo database in MaxMind's format; nil: no locations.
        public var database: String?
    }

    /// The rate and the time of the deletion of expired rows.
    public struct CleanUp: Hashable, Sendable {
        /// The rows examined in a second, which bounds the writes of clean-up.
        public var rowsPerSecond = 5000
        /// The rows of one step, which takes the writer a few milliseconds.
        public var stepSize = 256
        /// The days for which the audit trail keeps an event; 0: for ever.
        public var auditRetentionDays = 365

        /// The default rate and retention.
        public init() {}

        /// The time between two steps.
        public var pause: Duration { .seconds(1) * Double(stepSize) / Double(rowsPerSecond) }
        /// The time for which the audit trail keeps an event; nil: for ever.
        public var auditRetention: Duration? { auditRetentionDays == 0 ? nil : .seconds(86400 * auditRetentionDays) }
    }

    /// The level and the format of the log.
    public struct Log: Hashable, Sendable {
        /// The lowest level of written lines.
        public var level = LogLevel.info
        /// The format of a line.
        public var format = Logger.Format.json

        /// The level and the format of the log.
        public init(level: LogLevel = .info, format: Logger.Format = .json) {
            self.level = level
            self.format = format
        }
    }

    /// The listeners and the name of the server.
    public var server = Listeners()
    /// The database.
    public var database = Database()
    /// The keys of the server.
    public var keys = Keys()
    /// The bounds that no admin can raise at run time.
    public var sessions = SessionBounds()
    /// The requirements for DPoP proofs.
    public var dpop = DPoP()
    /// Passkeys.
    public var passkeys = Passkeys()
    /// The members of their accounts that users may change.
    public var editable = ProfileMember.usual
    /// The identity providers.
    public var identityProviders: [IdentityProvider] = []
    /// A limit for everything that a client can make grow or wait.
    public var limits = ServerLimits()
    /// The rules for accounts that users make and end by themselves.
    public var accounts = AccountRules()
    /// The rate and the time of the deletion of expired rows.
    public var cleanUp = CleanUp()
    /// The receivers of events.
    public var webhooks: [Webhook] = []
    /// The mails to users.
    public var mails = Mails()
    /// The locations of network addresses.
    public var geo = Geo()
    /// The folder of language files. Nil: the pages are in English and German.
    public var languages: String?
    /// The level and the format of the log.
    public var log = Log()

    /// The defaults.
    public init() {}

    /// What the domain has to know of passkeys; nil without an RP ID.
    public var passkeyPolicy: PasskeyPolicy? {
        passkeys.rpID.map {
            PasskeyPolicy(rpID: $0, origins: passkeys.origins, countMax: limits.passkeysPerUser)
        }
    }

    /// The path of the root keys: `keys.root_key_file`, or a file beside the database.
    public var rootKeyFile: String { keys.rootKeyFile ?? database.path + ".root-key" }
}
