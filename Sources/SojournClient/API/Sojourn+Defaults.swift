internal import Foundation

extension Sojourn {
    /// A session with what the platform offers: on Apple platforms the record in the Keychain and the key in the Secure Enclave,
    /// elsewhere both in files below `XDG_STATE_HOME` (or `~/.local/state`).
    ///
    /// - Parameter gate: for the mode `BIOMETRIC`, for example `LocalAuthenticationGate(configuration)`.
    public init(_ configuration: SojournConfiguration, gate: (any PresenceGate)? = nil, log: Log = .none) {
        let name = StorageName(configuration)
        #if canImport(Security) && canImport(CryptoKit)
            let (account, group) = ("\(name.owner)/\(name.slot)", configuration.keychainAccessGroup)
            self.init(
                configuration,
                store: KeychainStore(service: configuration.keychainService, account: account, accessGroup: group),
                keys: EnclaveKeys(service: configuration.keychainService, account: account, accessGroup: group),
                gate: gate, transport: URLSessionTransport.shared, clock: SystemClock(), log: log)
        #else
            let folder = URL(fileURLWithPath: name.folder(ProcessInfo.processInfo.environment))
            self.init(
                configuration, store: FileStore(directory: folder), keys: SoftwareKeys(directory: folder),
                gate: gate, transport: URLSessionTransport.shared, clock: SystemClock(), log: log)
        #endif
    }
}

/// Where a client keeps what belongs to one server and one slot.
struct StorageName: Hashable, Sendable {
    /// The client and the server, for example `mobile@auth.example`.
    var owner: String
    var slot: String

    init(_ configuration: SojournConfiguration) {
        let server = configuration.server
        let host = (server.host ?? "").lowercased()
        owner = "\(configuration.clientID)@\(host)\(server.port.map { ":\($0)" } ?? "")\(server.path)"
        slot = configuration.slot
    }

    /// The folder of the files.
    func folder(_ environment: [String: String]) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        // A path that is not absolute is ignored (XDG Base Directory Specification).
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
        return [state, "sojourn", Self.fileName(owner), Self.fileName(slot)].joined(separator: "/")
    }

    /// `text` as the name of a file: other characters than letters, digits, `-`, `_`, `@` and dots within the name are escaped.
    private static func fileName(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            let isPlain =
                character.isASCII
                && (character.isLetter || character.isNumber || "-_@".contains(character)
                    || character == "." && !name.isEmpty)
            name += isPlain ? String(character) : "%" + String(UInt16(byte) + 256, radix: 16, uppercase: true).suffix(2)
        }
        return name
    }
}
