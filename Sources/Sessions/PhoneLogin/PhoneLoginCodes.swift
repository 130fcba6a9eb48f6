public import Cryptography

/// What a picture, a link or a push says of a login: which one it is, and on which way the code may travel. The tag covers the
/// way, so that a picture cannot be sent as a link.
public struct PhoneLoginCode: Hashable, Sendable {
    /// The way of a code.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A picture on the other device, valid for two slots.
        case picture
        /// A link on the phone itself, valid as long as the login.
        case link
        /// A message to the phone, valid as long as the login.
        case push
    }

    /// How a phone got a code, by what its app says.
    public enum Source: String, CaseIterable, Sendable {
        /// The app's own camera.
        case camera = "qr"
        /// The system gave the app a link. The system's camera does so as well.
        case link = "deep_link"
        /// A message to the app.
        case push
    }

    /// The number of random bytes by which the store finds the login.
    public static let handleCount = 8

    /// The random bytes of the login.
    public let handle: [UInt8]
    /// The way of the code.
    public let kind: Kind

    /// A code of the login with that handle.
    public init(handle: [UInt8], kind: Kind) {
        self.handle = handle
        self.kind = kind
    }

    /// How a phone that brought the code from `source` arrives at the login; nil: the code may not come this way. An honest app
    /// says where it has a code from, which is enough, because the rule protects its user.
    public func arrival(from source: Source) -> PhoneLogin.Arrival? {
        switch (kind, source) {
        case (.picture, .camera): .scanned
        case (.link, .link): .linked
        case (.push, .push): .pushed
        default: nil
        }
    }

    /// How a phone that brought the code of an invitation from `source` arrives; nil: the code may not come this way. The system's
    /// camera may open it as well, because no other device waits that a stranger could have started.
    public func invitationArrival(from source: Source) -> PhoneLogin.Arrival? {
        switch (kind, source) {
        case (.picture, .camera): .scanned
        case (.picture, .link), (.link, .link): .linked
        case (.push, .push): .pushed
        default: nil
        }
    }
}

/// Writes and reads the codes of logins and invitations: `HTTPS://HOST/L/`, or `/E/`, and 26 characters of base32, which are the handle (8 bytes), the kind
/// and the slot (1 byte) and a tag (7 bytes). All characters belong to the alphanumeric mode of QR codes (ISO/IEC 18004), in
/// which the code is smaller than bytes of base64.
public struct PhoneLoginCodeCoder: Sendable {
    /// How long a picture is shown. It is accepted in this slot and the next one.
    public static let slot = Duration.seconds(10)
    /// The number of characters after the prefix.
    public static let textCount = 26

    /// What the codes are for. Codes of one use are no codes of another one.
    public enum Use: String, Sendable {
        /// Logins on another device.
        case logins = "sojourn login code"
        /// Invitations: printed or mailed, so that their pictures do not change.
        case invitations = "sojourn invitation code"

        /// The segment of the path before the code.
        var segment: String { self == .logins ? "L" : "E" }
    }

    private static let tagCount = 7
    private static let slotBits: UInt8 = 6

    /// What a token in a link allows.
    enum Link: String, CaseIterable {
        /// To come back to a login from the app.
        case back = "sojourn login return"
        /// To end a session that a phone has let in.
        case notMe = "sojourn login not me"
        /// To be known again as the browser that a phone has let in.
        case known = "sojourn login known browser"
    }

    private static let linkTagCount = 16

    private let use: Use
    private let keys: [HMACSHA256Key]
    private let linkKeys: [Link: [HMACSHA256Key]]

    /// A coder under those root keys: the first one writes, all read.
    public init(_ use: Use = .logins, rootKeys: RootKeys) {
        self.use = use
        keys = rootKeys.all.map { HMACSHA256Key($0.derive(use.rawValue)) }
        linkKeys = Dictionary(
            uniqueKeysWithValues: Link.allCases.map { link in
                (link, rootKeys.all.map { HMACSHA256Key($0.derive(link.rawValue)) })
            })
    }

    /// The token of a link about the login, or about the session that it starts.
    func token(_ link: Link, of id: Identifier<Session>) -> String {
        linkKeys[link]?.first.map { Self.token(of: id, $0) } ?? ""
    }

    /// Whether `token` is that of the link.
    func isToken(_ token: String, _ link: Link, of id: Identifier<Session>) -> Bool {
        linkKeys[link]?.contains { constantTimeEqual(Array(token.utf8), Array(Self.token(of: id, $0).utf8)) } == true
    }

    private static func token(of id: Identifier<Session>, _ key: HMACSHA256Key) -> String {
        Base64URL.encode(Array(key.authenticate(id.bytes).prefix(linkTagCount)))
    }

    /// The characters of the code at `now`.
    public func text(_ code: PhoneLoginCode, at now: Instant) -> String {
        let number = changes(code.kind) ? Self.slotNumber(now) : 0
        let body = Self.body(code, UInt8(truncatingIfNeeded: number) & Self.slotMask)
        return Base32.encode(body + tag(body, number, keys[0]))
    }

    /// The link with the code at `now`, below that URL of the server, which has no slash at its end. Scheme and host are in
    /// capitals, because capitals take less room in a picture.
    public func link(_ code: PhoneLoginCode, base: String, at now: Instant) -> String {
        let start = base.firstRange(of: "://")?.upperBound ?? base.startIndex
        let path = base[start...].firstIndex(of: "/") ?? base.endIndex
        return base[..<path].uppercased() + base[path...] + "/\(use.segment)/" + text(code, at: now)
    }

    /// Whether a code of that kind changes with each slot.
    private func changes(_ kind: PhoneLoginCode.Kind) -> Bool { use == .logins && kind == .picture }

    /// The code in a scanned or followed text, with or without what stands before it; nil for anything else, and for a picture
    /// that is older than the slot before that of `now`.
    public func code(in text: String, at now: Instant) -> PhoneLoginCode? {
        guard text.utf8.count <= 512, let last = text.split(separator: "/").last,
            let bytes = Base32.decode(last.uppercased()),
            bytes.count == PhoneLoginCode.handleCount + 1 + Self.tagCount
        else { return nil }
        let (body, tag) = (Array(bytes.dropLast(Self.tagCount)), Array(bytes.suffix(Self.tagCount)))
        guard let kind = PhoneLoginCode.Kind(rawValue: body[PhoneLoginCode.handleCount] >> Self.slotBits) else {
            return nil
        }
        let short = body[PhoneLoginCode.handleCount] & Self.slotMask
        let slot = Self.slotNumber(now)
        for number in changes(kind) ? [slot, slot - 1] : [0] {
            guard UInt8(truncatingIfNeeded: number) & Self.slotMask == short else { continue }
            if keys.contains(where: { constantTimeEqual(self.tag(body, number, $0), tag) }) {
                return PhoneLoginCode(handle: Array(body.prefix(PhoneLoginCode.handleCount)), kind: kind)
            }
        }
        return nil
    }

    private static let slotMask: UInt8 = 1 << slotBits - 1
    private static func slotNumber(_ now: Instant) -> Int64 { now.secondsSinceEpoch / slot.wholeSeconds }

    private static func body(_ code: PhoneLoginCode, _ slot: UInt8) -> [UInt8] {
        code.handle + [code.kind.rawValue << slotBits | slot]
    }

    /// The tag covers the whole number of the slot, because its short form comes again after some minutes.
    private func tag(_ body: [UInt8], _ slot: Int64, _ key: HMACSHA256Key) -> [UInt8] {
        let number = (0..<8).map { UInt8(truncatingIfNeeded: slot >> (56 - 8 * $0)) }
        return Array(key.authenticate(body + number).prefix(Self.tagCount))
    }
}

/// Base32 with the alphabet of RFC 4648 section 6, without padding.
public enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The text of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> String {
        var (text, group, bits) = ([UInt8](), 0, 0)
        for byte in bytes {
            (group, bits) = (group << 8 | Int(byte), bits + 8)
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[group >> bits & 31])
            }
            group &= 1 << bits - 1
        }
        if bits > 0 { text.append(alphabet[group << (5 - bits) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of `text`; nil unless `encode` would write exactly this text.
    public static func decode(_ text: String) -> [UInt8]? {
        var (bytes, group, bits) = ([UInt8](), 0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (group, bits) = (group << 5 | value, bits + 5)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(group >> bits))
            }
            group &= 1 << bits - 1
        }
        return bits < 5 && group == 0 ? bytes : nil
    }
}

/// The code that a user types for a device without a browser (RFC 8628 section 6.1): 8 of 20 letters without vowels, so that it
/// spells no word, written with a hyphen in the middle. There are 20 to the power of 8 of them, 34.6 bits.
public enum UserCode {
    /// The letters.
    public static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    /// The number of letters.
    public static let letterCount = 8

    /// A random code without the hyphen. Every letter is equally likely.
    public static func random(_ random: RandomSource) -> String {
        var letters: [UInt8] = []
        while letters.count < letterCount {
            // 240 is the largest multiple of 20 in a byte.
            for byte in random.bytes(letterCount * 2) where byte < 240 && letters.count < letterCount {
                letters.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The code as the user reads it: `BCDF-GHJK`.
    public static func shown(_ code: String) -> String { "\(code.prefix(4))-\(code.suffix(4))" }

    /// The code in what a user typed, in any case, with anything between the letters that is neither letter nor digit; nil: it
    /// is none.
    public static func typed(_ text: String) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let letters = text.uppercased().filter { $0.isLetter || $0.isNumber }
        guard letters.utf8.count == letterCount, letters.utf8.allSatisfy(alphabet.contains) else { return nil }
        return letters
    }
}

/// The number that the user reads on the other device and types on the phone.
public enum MatchingNumber {
    /// The numbers.
    public static let range = 10...99

    /// A random number. Every one is equally likely.
    public static func random(_ random: RandomSource) -> Int {
        while true {
            // 180 is the largest multiple of 90 in a byte.
            for byte in random.bytes(8) where byte < 180 { return range.lowerBound + Int(byte) % range.count }
        }
    }
}
