internal import Locks

/// A verified proof of possession of a key (RFC 9449), in the request that holds it.
///
/// The proof allows one effect. The code that causes the effect uses the proof immediately before, when nothing else prevents
/// the effect and the key is the right one. Proofs of strangers cause no effect, so that they take no memory, and of two
/// requests with one proof at most one has an effect.
public final class ProofOfPossession: Sendable {
    /// The JWK thumbprint of the key (RFC 7638).
    public let keyThumbprint: String
    private let remember: @Sendable () throws(DPoPError) -> Void
    private let outcome = Locked<Result<Void, DPoPError>?>(nil)

    /// Creates a proof. `remember` marks it as used, or throws if it was used or has expired.
    init(of keyThumbprint: String, remember: @escaping @Sendable () throws(DPoPError) -> Void) {
        self.keyThumbprint = keyThumbprint
        self.remember = remember
    }

    /// Uses the proof. All uses in one request have the outcome of the first one, because a transaction may run again or have
    /// two steps.
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
    /// Returns true if both belong to one request.
    public static func == (one: ProofOfPossession, other: ProofOfPossession) -> Bool { one === other }

    /// See `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
