/// Names an app on Apple platforms.
public enum AppleApp {
    /// Returns true for an application identifier: the ten letters and digits of a team, a dot, and a bundle identifier.
    public static func isValid(id: String) -> Bool {
        guard let dot = id.firstIndex(of: "."), id.utf8.count <= 266 else { return false }
        let (team, bundle) = (id[..<dot], id[id.index(after: dot)...])
        return team.utf8.count == 10
            && team.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
            && bundle.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
    }
}

/// An app on Android, and one certificate with which it is signed. As text it is `PACKAGE/FINGERPRINT`.
public struct AndroidApp: Hashable, Sendable {
    /// The application ID, for example `com.example.shop`.
    public let package: String
    /// The SHA-256 of the certificate as `apksigner` and Google Play show it: 32 pairs of upper-case hexadecimal digits, with
    /// colons between them.
    public let fingerprint: String

    /// Reads the text; nil if it is not an app.
    public init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        (package, fingerprint) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
        guard Self.isPackage(package), Self.isFingerprint(fingerprint) else { return nil }
    }

    /// The text.
    public var text: String { "\(package)/\(fingerprint)" }

    /// Returns true for two or more segments of letters, digits and underscores, each of which begins with a letter.
    private static func isPackage(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 2 && text.utf8.count <= 255
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
                    && part.utf8.first.map { isLetterOrDigit($0) && !(0x30...0x39).contains($0) } == true
            }
    }

    private static func isFingerprint(_ text: String) -> Bool {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        return pairs.count == 32
            && pairs.allSatisfy { pair in
                pair.utf8.count == 2
                    && pair.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
            }
    }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
}
