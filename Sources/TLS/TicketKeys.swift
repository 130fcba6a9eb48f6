internal import COpenSSL
internal import Cryptography
internal import Cryptography
internal import Glibc
internal import Locks

/// The keys that encrypt session tickets (RFC 5077, RFC 8446 §4.6.1). Contexts share them, so that a client can resume
/// after the certificate was replaced.
///
/// A key encrypts tickets for one period and decrypts them for another. An attacker with the server's memory can read
/// the tickets, and with them TLS 1.2 sessions, of two periods at most. The owner rotates the keys once per `lifetime`,
/// because it has the clock.
public final class TicketKeys: Sendable {
    /// The validity of a ticket, and the period of rotation, in seconds.
    public static let lifetime = 12 * 3600

    private struct Key {
        var name: [UInt8]
        var cipher: [UInt8]
        var mac: [UInt8]

        static func random() -> Key {
            Key(name: randomBytes(count: 16), cipher: randomBytes(count: 32), mac: randomBytes(count: 32))
        }
    }

    /// The first key encrypts; all of them decrypt.
    private let keys = Locked([Key.random()])

    /// Creates a first key.
    public init() {}

    /// Makes a new key encrypt. The previous one still decrypts; older ones are gone.
    public func rotate() {
        let new = Key.random()
        keys.withLock { $0 = [new] + $0.prefix(1) }
    }

    /// Implements SSL_CTX_set_tlsext_ticket_key_evp_cb: returns 1 for the current key, 2 for an older one (renew the
    /// ticket), 0 for an unknown key (the handshake is a full one), -1 for a failure.
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
