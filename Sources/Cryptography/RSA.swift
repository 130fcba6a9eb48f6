/// The conditions on a public RSA key before libcrypto gets it.
enum RSA {
    /// Returns true if both numbers are in their shortest form, the modulus is neither too short nor too expensive, and
    /// the exponent is a common one.
    static func isAcceptable(n: [UInt8], e: [UInt8]) -> Bool {
        guard let first = n.first, first != 0, let last = n.last, last & 1 == 1 else { return false }
        let bits = n.count * 8 - first.leadingZeroBitCount
        guard (2048...8192).contains(bits) else { return false }
        guard (3...4).contains(e.count), e[0] != 0, e[e.count - 1] & 1 == 1 else { return false }
        return e.reduce(0) { $0 << 8 | UInt64($1) } >= 65537 && !hasFingerprint(n)
    }

    /// Returns true if a faulty smart card library made the modulus, so that it can be factored (CVE-2017-15361):
    /// modulo every small prime it is a power of 65537. One in 2^27 other moduli matches too.
    static func hasFingerprint(_ n: [UInt8]) -> Bool {
        smallPrimes.allSatisfy { prime in
            let rest = n.reduce(0) { ($0 << 8 | UInt32($1)) % prime }
            var power: UInt32 = 1
            repeat {
                if power == rest { return true }
                power = power * (65537 % prime) % prime
            } while power != 1
            return false
        }
    }

    private static let smallPrimes: [UInt32] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
        113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ]
}
