internal import Locks

/// A good proof of possession of a key (RFC 9449), as the request has it that brought it along.
///
/// It is good for one thing that comes of it. Whatever brings that about uses it up right before, when nothing else stands in the way
/// and the key is the right one: so a stranger, whose proofs are good and bring about nothing, takes no memory; and of two
/// requests with one proof at most one has an effect, whenever they come.
public final class ProofOfPossession: Sendable {
    /// The RFC 7638 thumbprint of the key.
    public let keyThumbprint: String
    private let remember: @Sendable () throws(DPoPError) -> Void
    private let outcome = Locked<Result<Void, DPoPError>?>(nil)

    /// A proof of that key, which `remember` takes for used, or says why it is not to be taken any more.
    init(of keyThumbprint: String, remember: @escaping @Sendable () throws(DPoPError) -> Void) {
        self.keyThumbprint = keyThumbprint
        self.remember = remember
    }

    /// Uses it up. Once for its request, whose transaction may be tried again, or have two steps: the first outcome stands.
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
    /// Whether both are of one request.
    public static func == (one: ProofOfPossession, other: ProofOfPossession) -> Bool { one === other }

    /// See `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
