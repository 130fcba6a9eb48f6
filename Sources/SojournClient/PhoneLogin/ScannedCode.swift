internal import Foundation

/// What a picture, a link or a message says of a login: which one it is. The server alone can read it.
struct ScannedCode: Hashable, Sendable {
    /// How the phone got to know of it.
    enum Source: String, Hashable, Sendable {
        case picture = "qr"
        case link = "deep_link"
        case push
    }

    /// 26 characters of base32.
    let text: String
    let source: Source
    /// Whether it enrolls the device.
    let isEnrolment: Bool

    static let characterCount = 26
    static let byteCount = 16

    /// The code in the text of a picture: the link, or the code alone, in base32 or base64. Throws `refused` with `invalid_code`
    /// for anything else, and with `other_server` for the link of another server.
    init(_ text: String, from source: Source, at server: ServerAddress) throws(SojournError) {
        guard text.utf8.count <= 512 else { throw Self.invalid }
        let plain = text.trimmingCharacters(in: .whitespacesAndNewlines)
        var path = Substring(plain)
        if let scheme = plain.range(of: "://") {
            let name = plain[..<scheme.lowerBound].lowercased()
            // The slashes may belong to base64.
            path = plain[plain.index(after: scheme.lowerBound)...]
            if name == "https" || name == "http" {
                // The host is compared, so that a picture of another server is told apart from one that is over.
                let own = server.base.lowercased()
                guard plain.lowercased().hasPrefix(own + "/") else {
                    throw .refused(Refusal(status: 0, code: "other_server"))
                }
                path = plain.dropFirst(own.count + 1)
            }
        } else if let colon = plain.firstIndex(of: ":") {
            path = plain[plain.index(after: colon)...]
        }
        let end = path.firstIndex { $0 == "?" || $0 == "#" } ?? path.endIndex
        let bare = path[..<end].removingPercentEncoding ?? String(path[..<end])
        // Base64 has slashes too, so that the code is the shortest end of the path that is one.
        let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
        for start in parts.indices.reversed() {
            guard let code = Self.code(in: parts[start...].joined(separator: "/")) else { continue }
            isEnrolment = start > 0 && parts[start - 1].lowercased() == "e"
            (self.text, self.source) = (code, source)
            return
        }
        throw Self.invalid
    }

    /// The code in the bytes of a picture: those of a text, or the 16 bytes of the code itself.
    init(_ bytes: Data, from source: Source, at server: ServerAddress) throws(SojournError) {
        if bytes.count == Self.byteCount {
            try self.init(Self.encode(Array(bytes)), from: source, at: server)
        } else {
            guard bytes.count <= 512, let text = String(data: bytes, encoding: .utf8) else { throw Self.invalid }
            try self.init(text, from: source, at: server)
        }
    }

    private static var invalid: SojournError { .refused(Refusal(status: 0, code: "invalid_code")) }

    /// The code in base32; nil unless `text` is one, in base32 or in base64 of its 16 bytes.
    private static func code(in text: String) -> String? {
        let upper = text.uppercased()
        if upper.utf8.count == characterCount, upper.utf8.allSatisfy(alphabet.contains) { return upper }
        let plain = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .prefix { $0 != "=" }
        guard let bytes = Base64URL.decode(String(plain)), bytes.count == byteCount else { return nil }
        return encode(bytes)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Base32 without padding (RFC 4648 section 6).
    private static func encode(_ bytes: [UInt8]) -> String {
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
}
