internal import Locks

/// A valid proof of possession of a key (RFC 9449), in the hands of its request.
///
/// A proof allows one effect. The effect uses the proof up right before, when nothing else prevents it and the key is the right
/// one. So the valid proofs of a stranger, which have no effect, take no memory, and of two requests with one proof at most one
/// has an effect.
public final class ProofOfPossession: Sendable {
    /// The JWK thumbprint of the key (RFC 7638).
    public let keyThumbprint: String
    private let remember: @Sendable () throws(DPoPError) -> Void
    private let outcome = Locked<Result<Void, DPoPError>?>(nil)

    /// A proof of that key, which `remember` records as used, or refuses.
    init(of keyThumbprint: String, remember: @escaping @Sendable () throws(DPoPError) -> Void) {
        self.keyThumbprint = keyThumbprint
        self.remember = remember
    }

    /// Uses the proof up. The first outcome holds for its whole request, whose transaction may run again, or have two steps.
    public func use() throws(ServiceError) {
        let outcome = outcome.withLock { outcome in
            if let outcome { return outcome }
            let first: Result<Void, DPoPError>
            do throws(DPoPError) { first = .success(try remember()) } catch { first = .failure(error) }
            outcome = first
            return first
        }
        do throws(DPoPError) { try outcome.get() } catch { throw .unproven(error) }
    }
}

extension ProofOfPossession: Hashable {
    /// Whether both belong to one request.
    public static func == (one: ProofOfPossession, other: ProofOfPossession) -> Bool { one === other }

    /// See `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
