public import Geolocation
public import Sessions
public import Sockets
public import PostgresStore
public import SQLiteStore

/// The reason why a server does not start, in one line with the remedy.
public enum StartError: Error, Sendable, CustomStringConvertible {
    /// The database cannot be opened.
    case database(OpenError)
    /// The PostgreSQL database cannot be used.
    case postgres(PostgresStore.OpenError)
    /// The root keys cannot be read or created.
    case rootKeys(RootKeyFile.Problem)
    /// The root keys are not those of the database.
    case wrongRootKeys(source: String)
    /// The database fails.
    case store(StoreError)
    /// Settings in the database exceed the limits of the configuration.
    case settings(String)
    /// The value of `SOJOURN_ADMIN_KEY` cannot be an admin key.
    case adminKey(String)
    /// A listener cannot be opened on its address.
    case listen(key: String, SocketError)
    /// The public listener is a Unix socket, and the configuration has no issuer.
    case issuerMissing
    /// Inherited sockets have unknown names.
    case inheritedNames([String])
    /// The start was cancelled.
    case cancelled
    /// A certificate or a key cannot be used.
    case certificate(CertificateProblem)
    /// A system call failed.
    case system(String)
    /// The configuration of a webhook is not usable.
    case webhook(String)
    /// The configuration of mails is not usable.
    case mail(String)
    /// The geo database cannot be used.
    case geoDatabase(path: String, GeoDatabaseError)
    /// The language files cannot be used.
    case languages([String])
    /// The client secret for an identity provider cannot be used.
    case clientSecret(String)
    /// The ready file cannot be written.
    case readyFile(path: String, reason: String)

    /// Whether the same start may succeed later: the database does not answer.
    var mayPass: Bool {
        switch self {
        case .postgres(.unreachable), .store(.unavailable): true
        default: false
        }
    }

    /// The line.
    public var description: String {
        switch self {
        case .database(let error): error.description
        case .postgres(let error): error.description
        case .rootKeys(let problem): problem.description
        case .wrongRootKeys(let source):
            "\(source) does not hold the root key that the database was made with; restore the right one from its backup"
        case .store(.unavailable(let reason)): "the database does not answer: \(reason)"
        case .store(.corrupted(let reason)): "the database contradicts itself: \(reason)"
        case .settings(let problem):
            "the settings in the database do not go with sessions.absolute_max_lifetime: \(problem); raise it in the "
                + "configuration, or start once with the old value and run 'sojourn settings set'"
        case .adminKey(let problem): "SOJOURN_ADMIN_KEY: \(problem)"
        case .listen(let key, let error): "\(key): \(error)"
        case .issuerMissing:
            "the public listener is a Unix socket, which has no URL: set server.issuer to the one that apps call"
        case .inheritedNames(let names):
            "LISTEN_FDS hands over sockets named \(names.map { "'\($0)'" }.joined(separator: ", ")): name each 'public' or "
                + "'admin' (FileDescriptorName=)"
        case .cancelled: "stopped before it had started"
        case .certificate(let problem): problem.description
        case .system(let reason): reason
        case .webhook(let problem), .mail(let problem), .clientSecret(let problem): problem
        case .geoDatabase(let path, let error): "geo.database: \(path) \(error)"
        case .languages(let problems): "languages: " + problems.joined(separator: "\n")
        case .readyFile(let path, let reason): "the ready file \(path) cannot be written: \(reason)"
        }
    }
}
