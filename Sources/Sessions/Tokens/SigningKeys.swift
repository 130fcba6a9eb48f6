public import Cryptography
public import JOSE
internal import Locks

/// The keys that sign access tokens. The store has them encrypted with the root key, and this object holds them decrypted.
///
/// Clients that know no other algorithm have their ID tokens and logout tokens signed by an RSA key beside these, as security events
/// always are. OpenID Connect Discovery section 3 demands that every server has one.
///
/// They rotate automatically. A new key is published one day before it signs, so that every verifier has it in time, and an old
/// key is published until the last token that it signed has expired.
public final class SigningKeys: Sendable {
    /// The time between the publication of a new key and its first use.
    public static let publicationLead = Duration.seconds(86400)

    /// A decrypted key. It is a class, because every refresh looks for the signing key.
    final class Opened: Sendable {
        let stored: StoredSigningKey
        let signer: JWTSigner
        let publicKey: VerificationKey

        init(stored: StoredSigningKey, signer: JWTSigner, publicKey: VerificationKey) {
            self.stored = stored
            self.signer = signer
            self.publicKey = publicKey
        }
    }

    private let store: any Store
    private let rootKeys: RootKeys
    private let algorithm: SignatureAlgorithm
    private let rotation: Duration
    private let absoluteMaximum: Duration
    private let random: RandomSource
    private let generate: @Sendable (SignatureAlgorithm) -> SigningKey
    private let opened = Locked(Keys())
    private let reading = Locked(Reading())

    /// The held keys. Those of RSA are apart, because every refresh looks for the signing key among the others.
    private struct Keys {
        let all: [Opened]
        let rsa: [Opened]
        let others: [Opened]

        init(_ all: [Opened] = []) {
            self.all = all
            rsa = all.filter { $0.stored.algorithm == SigningKeys.rsa }
            others = all.filter { $0.stored.algorithm != SigningKeys.rsa }
        }
    }

    /// The read of the store from which the keys come.
    private struct Reading {
        /// The value of `Store.keyRevision` before the read.
        var revision = Int64.min
        var number = 0
        var lastNumber = 0
    }

    /// A read that has begun.
    private struct Ticket {
        let number: Int
        let revision: Int64
    }

    /// Creates the signing keys of `store`. A new key for `algorithm`, and one of RSA, is made every `rotation` by `generate`.
    public init(
        store: any Store, rootKeys: RootKeys, algorithm: SignatureAlgorithm, rotation: Duration,
        absoluteMaximum: Duration, random: RandomSource = .system,
        generate: @escaping @Sendable (SignatureAlgorithm) -> SigningKey = SigningKey.generate
    ) {
        self.store = store
        self.rootKeys = rootKeys
        self.algorithm = algorithm
        self.rotation = rotation
        self.absoluteMaximum = absoluteMaximum
        self.random = random
        self.generate = generate
    }

    /// The reason for which the keys cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The store did not answer.
        case store(StoreError)
        /// No listed root key decrypts the signing key with this id, because the key file belongs to another database.
        case wrongRootKey(String)
    }

    /// Reads the keys, makes the first or the next one when it is due, and deletes those with only expired tokens. The server
    /// calls this at the start and every few minutes.
    public func maintain(at now: Instant) async throws(Problem) {
        let settings: Settings
        let clients: [Client]
        let fresh = makeKey(at: now)
        let stored: [StoredSigningKey]
        let ticket = beginReading()
        do throws(StoreError) {
            settings = try await store.settings()
            clients = try await store.clients()
            let tokenLife = longestTokenLife(settings: settings, clients: clients)
            let (algorithm, rotation, rootKeys, random) = (algorithm.rawValue, rotation, rootKeys, random)
            let rsa = try await dueRSAKey(at: now)
            stored = try await store.updateSigningKeys { keys, events in
                Self.reseal(&keys, with: rootKeys, random)
                let due = Self.isNewKeyDue(keys, algorithm: algorithm, rotation: rotation, at: now)
                if due { Self.add(fresh, to: &keys, events: &events, at: now, by: .system) }
                if let rsa, Self.isNewKeyDue(keys, algorithm: rsa.algorithm, rotation: rotation, at: now) {
                    Self.add(rsa, to: &keys, events: &events, at: now, by: .system)
                }
                Self.retire(&keys, at: now, tokenLife: tokenLife)
                return keys
            }
        } catch { throw .store(error) }
        try load(stored, ticket)
    }

    /// The next RSA key, if it is due. It is made only then, because that takes a tenth of a second.
    private func dueRSAKey(at now: Instant) async throws(StoreError) -> StoredSigningKey? {
        let keys = try await store.updateSigningKeys { keys, _ in keys }
        guard Self.isNewKeyDue(keys, algorithm: Self.rsa, rotation: rotation, at: now) else { return nil }
        return makeKey(.rs256, at: now)
    }

    private static let rsa = SignatureAlgorithm.rs256.rawValue

    /// Reads the keys again if the store has noticed a change by another node.
    func follow() async throws(StoreError) {
        guard isBehind else { return }
        let ticket = beginReading()
        let stored = try await store.updateSigningKeys { keys, _ in keys }
        do throws(Problem) { try load(stored, ticket) } catch {
            throw .unavailable("a signing key cannot be opened: \(error)")
        }
    }

    /// True if the store has noticed a change since the last read.
    var isBehind: Bool { store.keyRevision != reading.withLock { $0.revision } }

    /// A number that changes whenever the held keys may have changed.
    var readingNumber: Int { reading.withLock { $0.number } }

    private func beginReading() -> Ticket {
        let revision = store.keyRevision
        return reading.withLock { reading in
            reading.lastNumber += 1
            return Ticket(number: reading.lastNumber, revision: revision)
        }
    }

    /// Makes a key, and one of RSA beside it, which sign after one day, or at once if `immediately`. Returns the id of the first.
    public func rotate(
        at now: Instant, immediately: Bool, by origin: Origin
    ) async throws(Problem) -> String {
        let fresh = [algorithm, .rs256].map { algorithm in
            var key = makeKey(algorithm, at: now)
            if immediately { key.activeFrom = now }
            return key
        }
        let stored: [StoredSigningKey]
        let ticket = beginReading()
        do throws(StoreError) {
            stored = try await store.updateSigningKeys { keys, events in
                for key in fresh { Self.add(key, to: &keys, events: &events, at: now, by: origin) }
                return keys
            }
        } catch { throw .store(error) }
        try load(stored, ticket)
        return fresh[0].id
    }

    /// Removes a compromised key from the set. The tokens that it has signed are invalid from then on: on this server at once,
    /// and for other verifiers when they read the set again. If the key was the signing one, a new key signs at once. Refresh
    /// tokens remain valid, so that every app gets a new access token at its next refresh. Returns false if there is no such
    /// key.
    public func withdraw(_ id: String, at now: Instant, by origin: Origin) async throws(Problem) -> Bool {
        let isRSA = all.contains { $0.id == id && $0.algorithm == Self.rsa }
        var fresh = makeKey(isRSA ? .rs256 : algorithm, at: now)
        fresh.activeFrom = now
        let successor = fresh
        let stored: [StoredSigningKey]?
        let ticket = beginReading()
        do throws(StoreError) {
            stored = try await store.updateSigningKeys { keys, events in
                guard let index = keys.firstIndex(where: { $0.id == id }) else { return nil }
                if Self.signing(keys, at: now, isRSA: isRSA)?.id == id {
                    Self.add(successor, to: &keys, events: &events, at: now, by: origin)
                }
                keys.remove(at: index)
                events.append(AuditEvent(.signingKeyWithdrawn, at: now, by: origin, reason: id))
                return keys
            }
        } catch { throw .store(error) }
        guard let stored else { return false }
        try load(stored, ticket)
        return true
    }

    /// Returns true if the root keys decrypt all of `stored`.
    public static func areOpened(_ stored: [StoredSigningKey], by rootKeys: RootKeys) -> Bool {
        stored.allSatisfy { rootKeys.open($0.sealedPrivateKey, purpose: sealing, name: $0.id) != nil }
    }

    /// All keys, newest first.
    public var all: [StoredSigningKey] {
        opened.withLock { $0.all.map(\.stored) }.sorted { ($0.activeFrom, $0.id) > ($1.activeFrom, $1.id) }
    }

    /// What a key does at `now`.
    public func state(of key: StoredSigningKey, at now: Instant) -> StoredSigningKey.State {
        let signing = Self.signing(all, at: now, isRSA: key.algorithm == Self.rsa)
        if key.id == signing?.id { return .signing }
        return key.activeFrom > now ? .next : .retired
    }

    /// The published keys (RFC 7517): the signing one, the next one, and old ones with unexpired tokens.
    public var publicKeys: JWKSet {
        JWKSet(opened.withLock { $0.all }.map { JWK(publishing: $0.publicKey, kid: $0.stored.id) })
    }

    /// The signer at `now`: the newest active key.
    func signer(at now: Instant) -> JWTSigner? { signer(at: now, isRSA: false) }

    /// The signer at `now` of ID tokens and logout tokens for `client`; nil if the client needs an RSA key and there is none.
    func signer(at now: Instant, for client: Client) -> JWTSigner? {
        signer(at: now, isRSA: client.page.idTokenAlgorithm == .rs256)
    }

    /// The signer at `now` of security events, which interoperable receivers demand to be RS256; nil if there is no RSA key.
    func rsaSigner(at now: Instant) -> JWTSigner? { signer(at: now, isRSA: true) }

    private func signer(at now: Instant, isRSA: Bool) -> JWTSigner? {
        opened.withLock { keys in
            Self.signing(isRSA ? keys.rsa : keys.others, at: now) { ($0.stored.createdAt, $0.stored.activeFrom) }?
                .signer
        }
    }

    /// Since when the next signing key is overdue, if it is: maintenance makes it a day before it has to sign.
    public func overdueSince(at now: Instant) -> Instant? {
        guard let newest = Self.newestStart(of: all, algorithm: algorithm.rawValue, at: now) else { return nil }
        let due = newest + rotation
        return due <= now ? due : nil
    }

    /// The public key with that id.
    func verificationKey(id: String) -> VerificationKey? {
        opened.withLock { keys in keys.all.first { $0.stored.id == id }?.publicKey }
    }

    private func makeKey(at now: Instant) -> StoredSigningKey { makeKey(algorithm, at: now) }

    private func makeKey(_ algorithm: SignatureAlgorithm, at now: Instant) -> StoredSigningKey {
        let key = generate(algorithm)
        let id = JWK(key.publicKey).thumbprint
        return StoredSigningKey(
            id: id, algorithm: algorithm.rawValue,
            sealedPrivateKey: rootKeys.seal(key.pkcs8DER, purpose: Self.sealing, name: id, random: random),
            createdAt: now, activeFrom: now + Self.publicationLead)
    }

    /// Returns true if a root key of this server decrypts the key, which is necessary to sign with it.
    public func canOpen(_ key: StoredSigningKey) -> Bool { Self.canOpen(key, with: rootKeys) }

    /// Returns true if one of `rootKeys` decrypts the key.
    public static func canOpen(_ key: StoredSigningKey, with rootKeys: RootKeys) -> Bool {
        rootKeys.open(key.sealedPrivateKey, purpose: sealing, name: key.id) != nil
    }

    private static let sealing = "sojourn signing keys"

    /// Replaces the held keys by `stored`, unless they come from a later read, which includes every change of this one.
    private func load(_ stored: [StoredSigningKey], _ ticket: Ticket) throws(Problem) {
        var keys: [Opened] = []
        let known = opened.withLock { $0.all }
        for key in stored {
            if let same = known.first(where: { $0.stored.sealedPrivateKey == key.sealedPrivateKey }) {
                keys.append(Opened(stored: key, signer: same.signer, publicKey: same.publicKey))
                continue
            }
            guard let der = rootKeys.open(key.sealedPrivateKey, purpose: Self.sealing, name: key.id),
                let signing = SigningKey(pkcs8DER: der),
                let signer = try? JWTSigner(key: signing, kid: key.id, typ: AccessToken.type)
            else { throw .wrongRootKey(key.id) }
            keys.append(Opened(stored: key, signer: signer, publicKey: signing.publicKey))
        }
        reading.withLock { reading in
            guard ticket.number > reading.number else { return }
            (reading.number, reading.revision) = (ticket.number, ticket.revision)
            opened.withLock { $0 = Keys(keys) }
        }
    }

    /// The longest time for which an access token can be presented. After its expiry it can still log out, and for clients that
    /// keep one string refresh, until its session has ended.
    private func longestTokenLife(settings: Settings, clients: [Client]) -> Duration {
        ([nil] + clients).map { (client: Client?) in
            Lifetimes(settings: settings.sessions, client: client, user: nil, absoluteMaximum: absoluteMaximum).idle
        }.reduce(.zero, max)
    }

    /// Seals keys again that an older root key sealed, so that the older key can be removed from the list.
    private static func reseal(_ keys: inout [StoredSigningKey], with rootKeys: RootKeys, _ random: RandomSource) {
        for index in keys.indices {
            let (sealed, id) = (keys[index].sealedPrivateKey, keys[index].id)
            guard !rootKeys.isSealedWithFirst(sealed),
                let der = rootKeys.open(sealed, purpose: sealing, name: id)
            else { continue }
            keys[index].sealedPrivateKey = rootKeys.seal(der, purpose: sealing, name: id, random: random)
        }
    }

    /// Returns true if a new key is due.
    private static func isNewKeyDue(
        _ keys: [StoredSigningKey], algorithm: String, rotation: Duration, at now: Instant
    ) -> Bool {
        guard let newest = newestStart(of: keys, algorithm: algorithm, at: now) else { return true }
        return now >= newest + (rotation - publicationLead)
    }

    /// When the newest key begins to sign; nil: there is none. Keys dated in the future are ignored, because a clock that was set
    /// back would otherwise delay the next key for years. A day is no such future: another node's clock may be ahead, and it may
    /// have made the first key between the look at this clock and the look at the keys.
    private static func newestStart(
        of keys: [StoredSigningKey], algorithm: String, at now: Instant
    ) -> Instant? {
        keys.lazy.filter { $0.algorithm == algorithm && $0.createdAt <= now + publicationLead }.map(\.activeFrom).max()
    }

    private static func add(
        _ key: StoredSigningKey, to keys: inout [StoredSigningKey], events: inout [AuditEvent], at now: Instant,
        by origin: Origin
    ) {
        var key = key
        // The first key signs at once, because no verifier exists yet.
        if !keys.contains(where: { ($0.algorithm == rsa) == (key.algorithm == rsa) }) { key.activeFrom = now }
        keys.append(key)
        events.append(AuditEvent(.signingKeyCreated, at: now, by: origin, reason: key.id))
    }

    /// The signing key of `keys`, which are of one kind, at `now`: the one that became active last, and of two in one second the one that was made last. If the
    /// clock was set back to before all of them, the newest one signs, which was published before, so that no token has to wait
    /// for the clock.
    private static func signing<Key>(
        _ keys: [Key], at now: Instant, _ facts: (Key) -> (createdAt: Instant, activeFrom: Instant)
    ) -> Key? {
        var newest: (key: Key, activeFrom: Instant)?
        for key in keys {
            let (_, activeFrom) = facts(key)
            if activeFrom > now { continue }
            if let newest, newest.activeFrom > activeFrom { continue }
            newest = (key, activeFrom)
        }
        if let newest { return newest.key }
        return keys.max { facts($0).createdAt < facts($1).createdAt }
    }

    private static func signing(_ keys: [StoredSigningKey], at now: Instant, isRSA: Bool) -> StoredSigningKey? {
        signing(keys.filter { ($0.algorithm == rsa) == isRSA }, at: now) { ($0.createdAt, $0.activeFrom) }
    }

    /// Sets the end of keys with a successor, later if settings have since extended the lifetime of their tokens, and deletes
    /// those with an end that has passed.
    private static func retire(_ keys: inout [StoredSigningKey], at now: Instant, tokenLife: Duration) {
        for isRSA in [false, true] { retire(&keys, isRSA: isRSA, at: now, tokenLife: tokenLife) }
        keys.removeAll { $0.retiredAt.map { $0 <= now } ?? false }
    }

    private static func retire(
        _ keys: inout [StoredSigningKey], isRSA: Bool, at now: Instant, tokenLife: Duration
    ) {
        guard let signing = signing(keys, at: now, isRSA: isRSA), signing.activeFrom <= now else { return }
        let active = keys.filter { $0.activeFrom <= now && ($0.algorithm == rsa) == isRSA }
        for key in active where key.id != signing.id {
            let successors = active.filter { $0.activeFrom >= key.activeFrom && $0.id != key.id }
            let lastSigned = successors.map(\.activeFrom).min() ?? signing.activeFrom
            let end = max(key.retiredAt ?? now + tokenLife, lastSigned + tokenLife)
            for index in keys.indices where keys[index].id == key.id { keys[index].retiredAt = end }
        }
    }
}
