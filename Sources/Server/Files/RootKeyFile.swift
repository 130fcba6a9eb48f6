internal import Configuration
public import Cryptography
internal import Glibc
public import Sessions

/// The file of the root keys: one key per line as 64 hexadecimal digits; the first one makes new tokens, and lines that begin
/// with `#` are comments. Without its root key no token of a database is valid, so a start creates the file only for a new one.
public struct RootKeyFile: Sendable {
    /// The path of the file.
    public let path: String

    /// The key file at `path`.
    public init(path: String) { self.path = path }

    /// The reason why the keys cannot be read or created, in one line with the remedy.
    public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The database exists, but its key file is missing.
        case missing(path: String)
        /// Not a file: a folder, a pipe, a device.
        case notAFile(path: String)
        /// The mode allows other users to use the file.
        case readableByOthers(path: String, mode: UInt32)
        /// The file belongs to another user, which can read it.
        case foreign(path: String)
        /// A system call failed.
        case inaccessible(path: String, reason: String)
        /// The content is not a list of keys; `source` is the file with the line, or the variable.
        case malformed(source: String, reason: String)

        /// The line.
        public var description: String {
            switch self {
            case .missing(let path):
                "the root key file \(path) is missing, and the database was made with it; restore it from its backup "
                    + "(a new one would log every user out), or name it with keys.root_key_file"
            case .notAFile(let path): "the root key file \(path) is not a regular file"
            case .readableByOthers(let path, let mode):
                "the root key file \(path) has mode \(Self.octal(mode)), so others than its owner can use it; "
                    + "run: chmod 600 \(Self.quoted(path))"
            case .foreign(let path):
                "the root key file \(path) belongs to another user, which can read it; run: chown \"$(id -u)\" "
                    + Self.quoted(path)
            case .inaccessible(let path, let reason): "the root key file \(path) cannot be used: \(reason)"
            case .malformed(let source, let reason): "\(source): \(reason)"
            }
        }

        private static func octal(_ mode: UInt32) -> String {
            let digits = String(mode, radix: 8)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }

        /// Quotes a path for a shell, if it has characters with a meaning there.
        private static func quoted(_ path: String) -> String {
            let isPlain = path.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "/._-".utf8.contains(byte)
            }
            return isPlain
                ? path
                : "'"
                    + path.split(separator: "'", omittingEmptySubsequences: false)
                    .joined(separator: "'\\''") + "'"
        }
    }

    /// Reads the keys; nil without a file.
    public func load() throws(Problem) -> RootKeys? {
        let text: [UInt8]
        do throws(PrivateFile.ReadFailure<Problem>) {
            text = try PrivateFile.read(path) { (status) throws(Problem) in try check(status) }
        } catch {
            switch error {
            case .refused(let problem): throw problem
            case .system(let failure) where failure.isMissing: return nil
            case .system(let failure): throw .inaccessible(path: path, reason: failure.description)
            }
        }
        let lines = String(decoding: text, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let numbered = lines.enumerated().map { (source: "\(path) line \($0.offset + 1)", text: $0.element) }
        return try Self.keys(numbered.filter { !$0.text.hasPrefix("#") }, of: path)
    }

    /// Creates the file, which must not exist, with one new key and mode 0600. It is durable when this returns.
    public func create(random: RandomSource) throws(Problem) -> RootKeys {
        let text = """
            # Root key of Sojourn: every token and every signing key depends on it. Keep it secret; back it up apart
            # from the database. To replace it, put a new key on a line above: the first one mints, all are accepted.
            \(Hex.encode(random.bytes(SecretKey.count)))

            """
        do throws(PrivateFile.Failure) {
            try PrivateFile.create(path, Array(text.utf8))
        } catch {
            throw .inaccessible(path: path, reason: error.description)
        }
        guard let keys = try load() else { throw .inaccessible(path: path, reason: "it vanished") }
        return keys
    }

    /// The keys in the value of `SOJOURN_ROOT_KEY`, separated by commas.
    public static func keys(fromVariable text: String) throws(Problem) -> RootKeys {
        let name = ServerConfiguration.SpecialVariable.rootKey.rawValue
        return try keys(text.split(separator: ",").map { (source: name, text: $0) }, of: name)
    }

    private static func keys(_ lines: [(source: String, text: Substring)], of source: String) throws(Problem)
        -> RootKeys
    {
        var secrets: [SecretKey] = []
        for (source, line) in lines {
            let text = line.filter { !$0.isWhitespace }
            if text.isEmpty { continue }
            // The error does not repeat the text, because it may be a key with a typing error.
            guard let secret = Hex.decode(text.lowercased()).flatMap(SecretKey.init) else {
                throw .malformed(source: source, reason: "a root key is 64 hexadecimal digits")
            }
            secrets.append(secret)
        }
        if secrets.isEmpty { throw .malformed(source: source, reason: "holds no root key (64 hexadecimal digits)") }
        guard let keys = RootKeys(secrets) else {
            throw .malformed(source: source, reason: "holds two root keys that share an id; make the new one anew")
        }
        return keys
    }

    private func check(_ status: PrivateFile.Status) throws(Problem) {
        guard status.isRegular else { throw .notAFile(path: path) }
        guard status.mode & 0o077 == 0 else { throw .readableByOthers(path: path, mode: status.mode) }
        let user = geteuid()
        // Root can read every file, both as the owner and as the user of this process.
        guard status.owner == user || status.owner == 0 || user == 0 else { throw .foreign(path: path) }
    }
}
