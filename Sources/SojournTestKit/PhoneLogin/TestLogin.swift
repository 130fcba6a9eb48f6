public import Foundation

/// What a device asks for that wants to be logged in with the help of a phone.
public struct TestLoginRequest: Hashable, Sendable {
    /// How long the session depends on the phone.
    public enum Bond: Hashable, Sendable {
        /// Not at all: the login is a single act (`pingTime` 0).
        case none
        /// It ends with the session of the phone.
        case session
        /// Furthermore it ends when the phone has not answered for so many seconds.
        case ping(Int64)
    }

    /// How long the session depends on the phone.
    public var bond = Bond.session
    /// `required`, `not_required`, or nil for the server's rule.
    public var secondFactor: String?
    /// The device, as its cookie or its key proves it. A user's phone knows those that it has let in before; every other one, and
    /// a device that proves nothing (nil), takes a second factor. Only `FakeServer` knows such devices.
    public var device: String?
    /// Where the phone leads the user after an approval by a link, as the device has registered it; nil: the device shows no link, and
    /// one that is made up is refused.
    public var returnURI: String? = "com.example.shop:/back"
    /// Whether the login enrolls the phone. Only `FakeServer` knows such logins.
    public var isEnrolment = false
    /// What the user is shown before the decision: JSON of a client that has proved itself.
    public var announceInfo: String?
    /// What the user is shown after the login: JSON.
    public var sessionInfo: String?
    /// What a device without a secret says before the decision: plain text.
    public var announceQuote: String?
    /// What it says after the login.
    public var sessionQuote: String?

    /// A request with the server's rules.
    public init() {}
}

/// A login that waits for a phone, as the device sees it.
public struct TestLogin: Hashable, Sendable {
    /// The login's ID.
    public var id: String
    /// The text of the picture that the device shows now.
    public var picture: String
    /// The link that opens the app on the same device.
    public var link: String
    /// The secret with which the device asks for the result.
    public var secret: String

    /// The message that the app's backend pushes to the phone. Its code is another one than that of the picture.
    public var push: Data

    /// The bytes of the code in the picture, for a binary QR code.
    public var pictureBytes: Data { Data(Self.bytes(picture.split(separator: "/").last ?? "")) }

    package init(id: String, picture: String, link: String, secret: String, push: Data) {
        (self.id, self.picture, self.link, self.secret, self.push) = (id, picture, link, secret, push)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The bytes of base32 without padding (RFC 4648 section 6).
    private static func bytes(_ text: Substring) -> [UInt8] {
        var (bytes, group, bits) = ([UInt8](), 0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return [] }
            (group, bits) = (group << 5 | value, bits + 5)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(group >> bits & 255))
            }
            group &= 1 << bits - 1
        }
        return bytes
    }
}
