internal import FoundationEssentials
internal import JSON

/// What pages and mails show of a client or of the service. A member that is nil is that of the settings.
public struct Branding: Codable, Hashable, Sendable {
    /// The accent color, `#RRGGBB`.
    public var accent: String?
    /// SHA-256 of the logo (`Logo.digest`), in hexadecimal digits.
    public var logo: String?
    /// The address of the privacy policy.
    public var policyURL: String?
    /// The address of the terms of service.
    public var termsURL: String?
    /// The address of a page with help.
    public var supportURL: String?
    /// The mailbox of the support.
    public var supportEmail: String?

    private enum CodingKeys: String, CodingKey {
        case accent, logo
        case policyURL = "policy_uri"
        case termsURL = "tos_uri"
        case supportURL = "support_uri"
        case supportEmail = "support_email"
    }

    /// A branding.
    public init(
        accent: String? = nil, logo: String? = nil, policyURL: String? = nil, termsURL: String? = nil,
        supportURL: String? = nil, supportEmail: String? = nil
    ) {
        (self.accent, self.logo, self.policyURL, self.termsURL) = (accent, logo, policyURL, termsURL)
        (self.supportURL, self.supportEmail) = (supportURL, supportEmail)
    }

    /// Reads the JSON text of a row; nil if it is not that of a branding.
    public init?(text: String) {
        guard let stored = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = stored
    }

    /// The JSON text, with members in the order of their names; nil for an empty one.
    public var text: String? {
        if self == Branding() { return nil }
        return JSONText.compact(self).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A picture that pages show.
public struct Logo: Hashable, Sendable {
    /// SHA-256 of the bytes.
    public let digest: [UInt8]
    /// `image/png` or `image/webp`.
    public let type: String
    /// The picture.
    public let bytes: [UInt8]

    /// A picture with the values of a row.
    public init(digest: [UInt8], type: String, bytes: [UInt8]) {
        (self.digest, self.type, self.bytes) = (digest, type, bytes)
    }
}

/// The requests about logos.
public protocol LogoReader {
    func logo(_ digest: [UInt8]) -> Answer<Logo?>

    /// Every logo, by digest.
    func logos(after digest: [UInt8]?, limit: Int) -> Answer<[Logo]>
}

/// The requests and writes about logos inside a transaction.
public protocol LogoTransaction: LogoReader {
    /// Adds a logo, unless it exists.
    func insert(_ logo: Logo)

    /// Removes the picture, which no page shows any more.
    func deleteLogo(_ digest: [UInt8])
}
