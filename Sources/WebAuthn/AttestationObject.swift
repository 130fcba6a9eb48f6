/// What an authenticator returns of a registration (section 6.5.4). The statement is checked for the form of its format, and
/// not verified.
struct AttestationObject {
    /// The bytes of the authenticator data.
    let authenticatorData: [UInt8]

    /// Reads an attestation object.
    init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard case .map(let members) = try CBOR.decode(bytes), members.count == 3,
            let format = members[.text("fmt")]?.text, let data = members[.text("authData")]?.bytes,
            case .map(let statement)? = members[.text("attStmt")]
        else { throw .malformedAttestation }
        guard Self.hasForm(of: format, statement) else { throw .malformedAttestation }
        authenticatorData = data
    }

    private enum Kind { case bytes, integer, text, certificates }

    /// The required members of the statement of a known format (section 8). A format that is not known needs only a map.
    private static func hasForm(of format: String, _ statement: [CBOR.Key: CBOR]) -> Bool {
        let required: [(String, Kind)]
        switch format {
        case "none": return statement.isEmpty
        case "packed": required = [("alg", .integer), ("sig", .bytes)]
        case "tpm":
            required = [
                ("ver", .text), ("alg", .integer), ("sig", .bytes), ("certInfo", .bytes), ("pubArea", .bytes),
            ]
        case "android-key": required = [("alg", .integer), ("sig", .bytes), ("x5c", .certificates)]
        case "android-safetynet": required = [("ver", .text), ("response", .bytes)]
        case "fido-u2f": required = [("sig", .bytes), ("x5c", .certificates)]
        case "apple": required = [("x5c", .certificates)]
        default: return !format.isEmpty
        }
        return required.allSatisfy { name, kind in isValue(statement[.text(name)], kind) }
            && (statement[.text("x5c")].map { isValue($0, .certificates) } ?? true)
    }

    private static func isValue(_ value: CBOR?, _ kind: Kind) -> Bool {
        switch (kind, value) {
        case (.bytes, .bytes?), (.integer, .integer?), (.text, .text?): true
        case (.certificates, .array(let elements)?): !elements.isEmpty && elements.allSatisfy { $0.bytes != nil }
        default: false
        }
    }
}
