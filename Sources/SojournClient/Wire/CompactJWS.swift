/// Writes tokens in the compact form (RFC 7515 §7.1). The SDK signs only two kinds of them, with fixed members.
enum CompactJWS {
    /// The token of a header and claims, both written as JSON, signed by `key`.
    static func token(header: String, claims: String, by key: any DeviceKey) async throws(KeyError) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return input + "." + Base64URL.encode(try await key.sign(Array(input.utf8)))
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
