/// Keeps the keys of a device.
public protocol DeviceKeyring: Sendable {
    /// The key of that name, or nil if there certainly is none. An error says that it could not be told.
    func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)?
    /// Makes the key and keeps it durably. If a key of that name exists, it is returned unchanged: a key is never replaced.
    func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey
    /// Deletes the key, if there is one.
    func deleteKey(_ name: KeyName) async throws(KeyError)
}

/// A private key that does not leave its keyring.
public protocol DeviceKey: Sendable {
    /// The public half.
    var publicKey: PublicJWK { get }
    /// The signature of `message` in the form of JWS (RFC 7518 §3.4 and RFC 8037): 64 bytes.
    func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8]
    /// The secret of this key and a public key on P-256 (ECDH, RFC 7518 §4.6): 32 bytes. Only the keys `KeyName.encryption` and
    /// `KeyName.pin` are asked for it.
    func agree(with other: PublicJWK) async throws(KeyError) -> [UInt8]
}

extension DeviceKey {
    /// Throws `KeyError.denied`: a keyring that makes no keys for encryption still signs.
    public func agree(with other: PublicJWK) async throws(KeyError) -> [UInt8] { throw .denied(0) }
}

/// The name of a key in a keyring.
public struct KeyName: Hashable, Sendable, RawRepresentable {
    /// Letters, digits, `.` and `-`.
    public var rawValue: String
    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The key that binds sessions (RFC 9449) and resumes them (RFC 7523).
    public static let device = KeyName(rawValue: "device")
    /// The key that signs after the user has proved to be present.
    public static let presence = KeyName(rawValue: "presence")
    /// The key to which the server encrypts messages (RFC 7516). It signs nothing.
    public static let encryption = KeyName(rawValue: "encryption")
    /// The key with the secret of the PIN. It signs nothing.
    public static let pin = KeyName(rawValue: "pin")

    /// Whether the key agrees on secrets, and signs nothing.
    package var agrees: Bool { self == .encryption || self == .pin }
}

/// A public key as JWK (RFC 7517): `EC` on P-256 (RFC 7518 §6.2) or `OKP` on Ed25519 (RFC 8037).
public struct PublicJWK: Hashable, Sendable {
    /// A curve, with the algorithm that signs on it.
    public enum Curve: String, Hashable, Sendable {
        case p256 = "P-256"
        case ed25519 = "Ed25519"
        /// `ES256` or `EdDSA`.
        public var algorithm: String { self == .p256 ? "ES256" : "EdDSA" }
    }
    /// The curve.
    public var curve: Curve
    /// The coordinate `x`, 32 bytes.
    public var x: [UInt8]
    /// The coordinate `y`, 32 bytes; nil on Ed25519.
    public var y: [UInt8]?

    /// Creates a key.
    public init(curve: Curve, x: [UInt8], y: [UInt8]? = nil) {
        self.curve = curve
        self.x = x
        self.y = y
    }
}

/// The reason why a keyring could not answer. No error says that a key is gone.
public enum KeyError: Error, Hashable, Sendable {
    /// The operating system holds the key back until the device is unlocked.
    case locked
    /// The app has no right to the key, or the device offers no such key. The number is the platform's code.
    case denied(Int32)
    /// What is stored is no key. It is kept.
    case corrupted(String)
    /// Another failure: the platform's code, and what was tried.
    case failed(Int32, String)
}
