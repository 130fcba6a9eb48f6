public import Geolocation
public import Sessions
public import Sockets
public import PostgresStore
public import SQLiteStore

/// Why a server does not start, in one line that says what to do.
public enum StartError: Error, Sendable, CustomStringConvertible {
    /// The database cannot be opened.
    case database(OpenError)
    /// The PostgreSQL database cannot be used.
    case postgres(PostgresStore.OpenError)
    /// The root keys cannot be had.
    case rootKeys(RootKeyFile.Problem)
    /// The root keys are not the ones that the database was made with.
    case wrongRootKeys(source: String)
    /// The database refuses.
    case store(StoreError)
    /// Settings in the database go beyond what the configuration allows.
    case settings(String)
    /// What `SOJOURN_ADMIN_KEY` holds cannot be an admin key.
    case adminKey(String)
    /// An address cannot be listened on.
    case listen(key: String, SocketError)
    /// The public listener is a Unix socket, and nothing says under which URL apps reach it.
    case issuerMissing
    /// Sockets were handed over under names that say nothing.
    case inheritedNames([String])
    /// It was told to stop before it had started.
    case cancelled
    /// A certificate or a key cannot be used.
    case certificate(CertificateProblem)
    /// The event loops cannot be made.
    case system(String)
    /// What a webhook's configuration lacks.
    case webhook(String)
    /// The file that says where addresses are cannot be used.
    case geoDatabase(path: String, GeoDatabaseError)
    /// What is wrong with the secret that this server has at an identity provider.
    case clientSecret(String)
    /// The ready file cannot be written.
    case readyFile(path: String, reason: String)

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
        case .webhook(let problem), .clientSecret(let problem): problem
        case .geoDatabase(let path, let error): "geo.database: \(path) \(error)"
        case .readyFile(let path, let reason): "the ready file \(path) cannot be written: \(reason)"
        }
    }
}
