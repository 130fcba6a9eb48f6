/// One installation of one app, named by an id that the client chooses.
public struct Device: Hashable, Sendable {
    /// The longest device id, in ASCII characters.
    public static let idLengthMax = 128
    /// The longest name, platform or app version, in bytes of UTF-8.
    public static let textLengthMax = 128

    /// Chosen by the client: 1 to 128 visible ASCII characters.
    public let id: String
    /// The name that the user gave it.
    public var name: String?
    /// The platform that the client reports: `ios`, `android` ….
    public var platform: String?
    /// The version of the app.
    public var appVersion: String?

    /// A device; the caller has checked the id with `isValid(id:)` and the texts with `isValid(text:)`.
    public init(id: String, name: String? = nil, platform: String? = nil, appVersion: String? = nil) {
        self.id = id
        self.name = name
        self.platform = platform
        self.appVersion = appVersion
    }

    /// Whether `id` is 1 to 128 visible ASCII characters.
    public static func isValid(id: String) -> Bool {
        (1...idLengthMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether `text` is short and holds no control characters.
    public static func isValid(text: String) -> Bool { Text.isValid(text, lengthMax: textLengthMax) }
}

/// The protection of the stored token on the device (the three modes of "Stay Logged In").
public enum AuthenticationMode: String, CaseIterable, Sendable {
    /// The token is used without asking.
    case no = "NO"
    /// The device asks for biometry before it gives the token out.
    case biometric = "BIOMETRIC"
    /// The user types the password at every start; the token never resumes silently.
    case password = "PASSWORD"
}
