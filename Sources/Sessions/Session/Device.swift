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

    /// What an event about the device calls it: its name, or else its platform.
    public var label: String? { name ?? platform }

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

/// The device data in a refresh request. Members without a value stay as they are. A class, because few refreshes have device
/// data.
public final class DeviceReport: Sendable {
    /// The name that the user gave it.
    public let name: String?
    /// The platform.
    public let platform: String?
    /// The version of the app.
    public let appVersion: String?

    /// A report; nil if all members are nil. The caller has checked the texts.
    public init?(name: String?, platform: String?, appVersion: String?) {
        if name == nil, platform == nil, appVersion == nil { return nil }
        self.name = name
        self.platform = platform
        self.appVersion = appVersion
    }
}

extension Device {
    /// The part of a platform that never changes on a device: its first letters in lower case, `ios` of `iOS 26`.
    private static func family(_ platform: String) -> String { platform.prefix { $0.isLetter }.lowercased() }

    /// True if `report` names another platform than the registered one.
    func isContradicted(by report: DeviceReport) -> Bool {
        guard let platform, let reported = report.platform else { return false }
        return Self.family(platform) != Self.family(reported)
    }

    /// True if `report` names the registered platform, or if none is registered.
    func isConfirmed(by report: DeviceReport?) -> Bool {
        platform == nil || report?.platform != nil && report.map(isContradicted) == false
    }

    /// What a request says that comes from this very device.
    var report: DeviceReport? { DeviceReport(name: nil, platform: platform, appVersion: nil) }

    /// Sets the members that `report` has.
    mutating func take(_ report: DeviceReport) {
        name = report.name ?? name
        platform = report.platform ?? platform
        appVersion = report.appVersion ?? appVersion
    }
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
