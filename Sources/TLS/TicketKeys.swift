internal import COpenSSL
internal import Cryptography
internal import Cryptography
internal import Glibc
internal import Locks

/// The keys that seal session tickets (RFC 5077, RFC 8446 §4.6.1). Contexts share them, so that a client can resume after
/// the certificate was replaced.
///
/// A key seals for one period and opens for another; who holds the memory of the server can read the tickets, and with them TLS 1.2
/// sessions, of two periods at most. Rotating is up to the owner, who has the clock: once per `lifetime`.
public final class TicketKeys: Sendable {
    /// How long a ticket is good, and how often keys should rotate, in seconds.
    public static let lifetime = 12 * 3600

    private struct Key {
        var name: [UInt8]
        var cipher: [UInt8]
        var mac: [UInt8]

        static func random() -> Key {
            Key(name: randomBytes(count: 16), cipher: randomBytes(count: 32), mac: randomBytes(count: 32))
        }
    }

    /// The first one seals, all of them open.
    private let keys = Locked([Key.random()])

    /// Makes a first key.
    public init() {}

    /// From now on a new key seals; the one before still opens, older ones do not.
    public func rotate() {
        let new = Key.random()
        keys.withLock { $0 = [new] + $0.prefix(1) }
    }

    /// Answers SSL_CTX_set_tlsext_ticket_key_evp_cb: 1 for this key, 2 for "and renew the ticket", 0 for a key that is gone
    /// (then the handshake is a full one), -1 for a failure.
    func prepare(
        _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?, _ cipher: OpaquePointer?,
        _ mac: OpaquePointer?, isNew: Bool
    ) -> Int32 {
        guard let name = unsafe name, let vector = unsafe vector else { return -1 }
        let keys = keys.withLock { $0 }
        let names = unsafe UnsafeMutableRawBufferPointer(start: name, count: 16)
        if isNew {
            guard unsafe RAND_bytes(vector, EVP_MAX_IV_LENGTH) == 1 else { return -1 }
            unsafe names.copyBytes(from: keys[0].name)
        }
        guard let index = keys.firstIndex(where: { unsafe names.elementsEqual($0.name) }) else { return 0 }
        var key = keys[index]
        guard unsafe COpenSSL_key_ticket_mac(mac, &key.mac, key.mac.count) == 1,
            unsafe EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, vector, isNew ? 1 : 0) == 1
        else { return -1 }
        return index == 0 ? 1 : 2
    }
}
