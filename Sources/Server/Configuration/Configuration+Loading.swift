internal import HTTPClient
internal import Sockets

extension Configuration {
    /// What is wrong with a configuration: one line each, all of them.
    public struct Problems: Error, Hashable, Sendable, CustomStringConvertible {
        /// A line names the file, variable or flag, says what is wrong, and what would be right.
        public let lines: [String]
        /// The lines.
        public var description: String { lines.joined(separator: "\n") }
    }

    /// Where a configuration comes from. Flags go over the environment, the environment over the file, the file over
    /// the defaults.
    public struct Sources: Sendable {
        /// The text of the file, and its name for errors.
        public var file: (name: String, text: [UInt8])?
        /// The environment of the process.
        public var environment: [String: String] = [:]
        /// What the command line says: the flag as it was written, the path of its key, the value.
        public var flags: [(flag: String, path: String, value: String)] = []

        /// Nothing but defaults.
        public init() {}
    }

    /// Variables that set no key of the file.
    public enum SpecialVariable: String, CaseIterable, Sendable {
        /// The root keys themselves, as in the root key file, parted by commas.
        case rootKey = "SOJOURN_ROOT_KEY"
        /// An admin key that is to exist.
        case adminKey = "SOJOURN_ADMIN_KEY"
        /// The configuration file, where `--config` says nothing.
        case config = "SOJOURN_CONFIG"
        /// The program, for scripts that start it.
        case bin = "SOJOURN_BIN"
    }

    /// Puts a configuration together.
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
        if problems.contains(where: { $0.contains("https URL") }) {
            // Without the library that reads URLs no URL is one.
            problems += HTTPClient.unavailability.map { [$0] } ?? []
        }
        if !problems.isEmpty { throw Problems(lines: problems) }
    }

    /// What each value alone allows, and all together do not.
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
        return problems + server.certificateProblems
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
            if case .objects(let entries) = value, let setObjects = key.setObjects {
                setObjects(&self, entries) { problems.append("\(name): \($0)") }
            } else if !key.set(&self, value) {
                problems.append("\(name): \(path) must be \(key.expectation), not \(value)")
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

    /// Environment and command line know only text: digits are tried as a number first, nothing at all is `null`.
    private mutating func apply(
        _ text: String, to key: ConfigurationKey, from source: String, _ problems: inout [String]
    ) {
        let value: ConfigurationValue = text.isEmpty ? .null : Int(text).map { .integer($0) } ?? .string(text)
        if !key.set(&self, value), !key.set(&self, .string(text)) {
            problems.append("\(source) must be \(key.expectation), not '\(text)'")
        }
    }

    private static func hint(_ word: String, _ known: [String]) -> String {
        Suggestions.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}
