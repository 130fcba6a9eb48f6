internal import Foundation

/// Makes what the server learns of a PIN. The secret does not leave the keyring, so that neither the store of the device nor the
/// database of the server can test a PIN.
package struct PINMaker: Sendable {
    /// The number of rounds (NIST SP 800-132). Another one makes another MAC of every PIN.
    package static let iterations = 600_000
    /// The shortest PIN, in characters.
    package static let lengthMin = 4
    /// The longest PIN, in bytes of UTF-8.
    package static let lengthMax = 128

    private let iterations: Int
    private let queue = BlockingQueue()

    /// A maker. Only tests stretch PINs by fewer rounds.
    package init(iterations: Int = PINMaker.iterations) { self.iterations = iterations }

    /// The MAC of a PIN for that client, user and device: HMAC-SHA-256 by the secret of `key` and its own public half (ECDH), over
    /// the PIN stretched by PBKDF2. Nil for a text that can be no PIN.
    package func mac(
        of pin: String, by key: any DeviceKey, client: String, user: String, device: String
    ) async throws(KeyError) -> [UInt8]? {
        let typed = Self.prepared(pin)
        guard typed.count >= Self.lengthMin, typed.utf8.count <= Self.lengthMax else { return nil }
        let place = Array("sojourn pin\n\(client)\n\(user)\n\(device)\n".utf8)
        let stretched = await queue.run { [iterations] in
            SmallCrypto.stretch(Array(typed.utf8), salt: SmallCrypto.sha256(place), iterations: iterations)
        }
        guard let stretched else { throw .failed(0, "stretch a PIN") }
        return SmallCrypto.hmacSHA256(key: try await key.agree(with: key.publicKey), message: place + stretched)
    }

    /// The PIN as the server counts it: the digits of every script as those of ASCII, and composed letters (NFC).
    private static func prepared(_ pin: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in pin.unicodeScalars {
            let digit = scalar.properties.numericType == .decimal ? scalar.properties.numericValue : nil
            text.append(digit.flatMap { UnicodeScalar(0x30 + UInt32($0)) } ?? scalar)
        }
        return String(text).precomposedStringWithCanonicalMapping
    }
}
