/// A message that only the holder of one key reads: a compact JWE (RFC 7516) by ECDH-ES on P-256 and A256GCM (RFC 7518).
package enum EncryptedMessage {
    /// Why a message cannot be read.
    package enum Problem: Error, Hashable, Sendable {
        /// It is no message of this kind, or was changed on its way.
        case invalid
        /// It is for another key.
        case otherKey
        /// The key could not answer.
        case key(KeyError)
    }

    private static let algorithm = "ECDH-ES"
    private static let encryption = "A256GCM"
    private static let (nonceCount, tagCount) = (12, 16)

    /// Whether the text has the form of such a message: five parts between dots.
    package static func hasForm(_ text: String) -> Bool { text.utf8.count { $0 == UInt8(ascii: ".") } == 4 }

    /// The content of a message to `key`. A header that names another algorithm is refused, so that the key does nothing else.
    package static func open(_ text: String, with key: any DeviceKey) async throws(Problem) -> [UInt8] {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[1].isEmpty,
            let header = Base64URL.decode(String(parts[0])).flatMap({ JSONValue(parsing: $0)?.members }),
            header.text("alg") == algorithm, header.text("enc") == encryption, header["zip"] == nil,
            header["crit"] == nil, let sender = header["epk"].flatMap({ PublicJWK(agreement: $0) }),
            let nonce = Base64URL.decode(String(parts[2])), nonce.count == nonceCount,
            let ciphertext = Base64URL.decode(String(parts[3])),
            let tag = Base64URL.decode(String(parts[4])), tag.count == tagCount
        else { throw .invalid }
        guard header.text("kid") == key.publicKey.thumbprint else { throw .otherKey }
        let secret: [UInt8]
        do throws(KeyError) { secret = try await key.agree(with: sender) } catch { throw .key(error) }
        let opened = SmallCrypto.open(
            nonce + ciphertext + tag, key: contentKey(secret), associatedData: Array(parts[0].utf8))
        guard let opened else { throw .invalid }
        return opened
    }

    /// A message to `receiver`, as the server makes it, for tests without one.
    package static func seal(
        _ content: [UInt8], to receiver: PublicJWK, from sender: any DeviceKey
    ) async throws(KeyError) -> String {
        let header: [String: JSONValue] = [
            "alg": .string(algorithm), "enc": .string(encryption), "kid": .string(receiver.thumbprint),
            "epk": .object(sender.publicKey.members), "typ": .string("JOSE"),
        ]
        let head = Base64URL.encode(JSONValue.object(header).bytes)
        let secret = try await sender.agree(with: receiver)
        let sealed = SmallCrypto.seal(content, key: contentKey(secret), associatedData: Array(head.utf8)) ?? []
        let parts = [
            sealed.prefix(nonceCount), sealed.dropFirst(nonceCount).dropLast(tagCount), sealed.suffix(tagCount),
        ]
        return ([head, ""] + parts.map { Base64URL.encode(Array($0)) }).joined(separator: ".")
    }

    /// The key of the content (RFC 7518 §4.6.2). A key of 256 bits takes one round of SHA-256, and its input begins with the number
    /// of the round.
    package static func contentKey(_ secret: [UInt8]) -> [UInt8] {
        let name = Array(encryption.utf8)
        let noParties: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        let info = [0, 0, 0, UInt8(name.count)] + name + noParties + [0, 0, 1, 0]
        return SmallCrypto.sha256([0, 0, 0, 1] + secret + info)
    }
}

extension PublicJWK {
    /// The public key on P-256 in the header of a message; nil if it is none.
    fileprivate init?(agreement value: JSONValue) {
        guard let members = value.members, members.text("kty") == "EC", members.text("crv") == Curve.p256.rawValue,
            members["d"] == nil, let x = members.text("x").flatMap(Base64URL.decode), x.count == 32,
            let y = members.text("y").flatMap(Base64URL.decode), y.count == 32
        else { return nil }
        self.init(curve: .p256, x: x, y: y)
    }
}
