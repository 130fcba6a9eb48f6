internal import Endpoints
internal import HTTPClient
internal import JSON
internal import Sockets

extension ServerConfiguration {
    /// All problems of a configuration, one line each.
    public struct Problems: Error, Hashable, Sendable, CustomStringConvertible {
        /// Each line names the file, variable or flag, the problem, and a valid value.
        public let lines: [String]
        /// The lines.
        public var description: String { lines.joined(separator: "\n") }
    }

    /// The sources of a configuration. Flags override the environment, the environment overrides the file, the file
    /// overrides the defaults.
    public struct Sources: Sendable {
        /// The text of the file, and its name for errors.
        public var file: (name: String, text: [UInt8])?
        /// The environment of the process.
        public var environment: [String: String] = [:]
        /// The flags of the command line: the flag as written, the path of its key, the value.
        public var flags: [(flag: String, path: String, value: String)] = []

        /// No sources, which means all defaults.
        public init() {}
    }

    /// The variables that are not keys of the file.
    public enum SpecialVariable: String, CaseIterable, Sendable {
        /// The root keys themselves, in the form of the root key file, separated by commas.
        case rootKey = "SOJOURN_ROOT_KEY"
        /// An admin key that the start creates.
        case adminKey = "SOJOURN_ADMIN_KEY"
        /// The password at the mail relay, in the place of the file.
        case mailPassword = "SOJOURN_MAIL_PASSWORD"
        /// The secrets that sign what the program for mails gets, in the place of the file.
        case mailWebhookSecret = "SOJOURN_MAIL_WEBHOOK_SECRET"
        /// The configuration file, unless `--config` names one.
        case config = "SOJOURN_CONFIG"
        /// The program, for scripts that start it.
        case bin = "SOJOURN_BIN"
    }

    /// Loads a configuration.
    public init(from sources: Sources) throws(Problems) {
        self.init()
        var problems: [String] = []
        if let file = sources.file { apply(file: file.name, file.text, &problems) }
        apply(environment: sources.environment, &problems)
        for (flag, path, text) in sources.flags {
            guard let key = ConfigurationKey.at(path) else { continue }
            apply(text, to: key, from: flag, &problems)
        }
        problems += impossibleCombinations
        if problems.contains(where: { $0.contains("https URL") || $0.contains("smtps URL") }) {
            // Without the library that parses URLs, every URL is invalid.
            problems += HTTPClient.unavailability.map { [$0] } ?? []
        }
        if !problems.isEmpty { throw Problems(lines: problems) }
    }

    /// The combinations that are invalid although each value is valid.
    private var impossibleCombinations: [String] {
        var problems: [String] = []
        if server.publicListen == server.adminListen, server.publicListen.port != 0 {
            problems.append(
                "server.public_listen and server.admin_listen are both \(server.publicListen): give each its own port")
        }
        if server.publicListen.port == nil, server.issuer == nil {
            problems.append(
                "server.public_listen is a Unix socket, which has no URL: set server.issuer to the one that apps call")
        }
        if server.proxyProtocol == .required, server.trustedProxies.isEmpty {
            problems.append(
                "server.proxy_protocol is required, but no proxy may connect: name the proxies in server.trusted_proxies"
            )
        }
        if limits.remoteLoginSame == .country, geo.database == nil {
            problems.append("limits.remote_login_same is country, but geo.database is not set: it knows the countries")
        }
        if passkeys.rpID == nil, !passkeys.origins.isEmpty {
            problems.append("passkeys.origins is set, but passkeys.rp_id is not: set it to the domain of the passkeys")
        }
        return problems + server.certificateProblems + mails.problems
    }

    private mutating func apply(file name: String, _ text: [UInt8], _ problems: inout [String]) {
        let document: ConfigurationDocument
        do { document = try ConfigurationDocument.parse(text) } catch {
            problems.append("\(name): \(error.description)")
            return
        }
        for (path, value) in document.values.sorted(by: { $0.key < $1.key }) {
            guard let key = ConfigurationKey.at(path) else {
                let known = ConfigurationKey.all.map(\.path)
                problems.append("\(name): unknown key \(path)" + Self.hint(path, known))
                continue
            }
            if let entries = value.objects, let setObjects = key.setObjects {
                setObjects(&self, entries) { problems.append("\(name): \($0)") }
            } else if !key.set(&self, value) {
                problems.append("\(name): \(path) must be \(key.expectation), not \(value.configurationText)")
            }
        }
    }

    private mutating func apply(environment: [String: String], _ problems: inout [String]) {
        let keys = Dictionary(uniqueKeysWithValues: ConfigurationKey.all.map { ($0.variable, $0) })
        let secrets = webhooks.map(\.secretVariable) + identityProviders.map(\.secretVariable)
        let special = SpecialVariable.allCases.map(\.rawValue) + secrets
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("SOJOURN_") {
            if special.contains(name) { continue }
            guard let key = keys[name] else {
                problems.append("environment: unknown variable \(name)" + Self.hint(name, keys.keys.sorted() + special))
                continue
            }
            apply(text, to: key, from: "environment: \(name)", &problems)
        }
    }

    /// Variables and flags are texts: digits are tried as a number first, and an empty text is `null`.
    private mutating func apply(
        _ text: String, to key: ConfigurationKey, from source: String, _ problems: inout [String]
    ) {
        let value: JSONValue = text.isEmpty ? .null : Int64(text).map { .integer($0) } ?? .string(text)
        if !key.set(&self, value), !key.set(&self, .string(text)) {
            problems.append("\(source) must be \(key.expectation), not '\(text)'")
        }
    }

    private static func hint(_ word: String, _ known: [String]) -> String {
        Suggestions.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}

extension ServerConfiguration.Listeners {
    /// The combinations of TLS settings that make no sense.
    var certificateProblems: [String] {
        var problems: [String] = []
        for (prefix, certificate, key) in [
            ("server.", tlsCertificate, tlsKey), ("server.admin_", adminTLSCertificate, adminTLSKey),
        ] where (certificate == nil) != (key == nil) {
            let (given, missing) =
                certificate == nil ? ("tls_key", "tls_certificate") : ("tls_certificate", "tls_key")
            problems.append("\(prefix)\(given) is set, but \(prefix)\(missing) is not: TLS needs both")
        }
        if adminClientCA != nil, adminTLSCertificate == nil {
            problems.append(
                "server.admin_client_ca is set, but server.admin_tls_certificate is not: clients show certificates over TLS only"
            )
        }
        return problems
    }
}
