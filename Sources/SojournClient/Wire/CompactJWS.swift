/// Writes tokens in the compact form (RFC 7515 §7.1). The SDK signs only two kinds of them, with fixed members.
enum CompactJWS {
    /// The token of a header and claims, both written as JSON, signed by `key`.
    static func token(header: String, claims: String, by key: any DeviceKey) async throws(KeyError) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return input + "." + Base64URL.encode(try await key.sign(Array(input.utf8)))
    }

    /// The claims of a token, whose signature is not checked; nil if it is none.
    static func claims(_ token: String) -> [String: JSONValue]? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(String(parts[1])).flatMap { JSONValue(parsing: $0)?.members }
    }

    /// `text` as a JSON string (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\0"..." ":
                let digits = String(scalar.value, radix: 16)
                quoted += scalar == " " ? " " : "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
