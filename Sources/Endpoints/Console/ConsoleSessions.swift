internal import Console
internal import Cryptography
internal import Locks
internal import Sessions

/// What the operator has decided about the console.
public struct ConsoleSettings: Hashable, Sendable {
    /// The names by which browsers reach the admin listener, in lower case and without a port. Another name may have been
    /// bent to this machine by a stranger's DNS.
    public var hosts: Set<String>
    /// The URL of the admin listener.
    public var baseURL: String

    /// The names beside those of this machine itself.
    public init(hosts: [String] = [], baseURL: String = "http://127.0.0.1:8081") {
        self.hosts = Set(hosts.map { $0.lowercased() } + ["localhost", "127.0.0.1", "[::1]"])
        self.baseURL = baseURL
    }

    /// Whether `/metrics` is served by that host: a name of the operator, or an address, to which no DNS leads. Browsers take a
    /// host of digits and dots for an address (WHATWG URL Standard).
    func admits(_ host: String) -> Bool {
        hosts.contains(host) || host.hasPrefix("[") || host.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    }
}

/// The browsers that are in the console, and the links that let one in. They are in the memory of this process: a cookie is
/// a handle on an admin key that the store has, and opens nothing when that key or this process is gone.
final class ConsoleSessions: Sendable {
    /// How long a link can be used.
    static let linkLifetime = Duration.seconds(60)
    /// How long the admin key lives that a link makes.
    static let keyLifetime = Duration.seconds(8 * 3600)
    /// How long a browser stays without a request.
    static let idle = Duration.seconds(1800)
    /// The largest number of browsers, and of links.
    private static let countMax = 500

    private struct Stay {
        var keyID: String
        /// Whether the key was made for this browser alone.
        var ownsKey: Bool
        var startedAt: Instant
        var usedAt: Instant

        func isLiving(at now: Instant) -> Bool {
            now < usedAt + ConsoleSessions.idle && now < startedAt + ConsoleSessions.keyLifetime
        }
    }

    private struct State {
        var stays: [[UInt8]: Stay] = [:]
        var links: [[UInt8]: ConsoleEntry.Link] = [:]
    }

    private let state = Locked(State())

    private static func hash(_ secret: String) -> [UInt8] { sha256(Array(secret.utf8)) }

    /// Lets a browser in. Returns the value of its cookie.
    func open(_ keyID: String, ownsKey: Bool, at now: Instant, random: RandomSource) -> String {
        let secret = Base64URL.encode(random.bytes(32))
        state.withLock { state in
            state.stays = state.stays.filter { $0.value.isLiving(at: now) }
            if state.stays.count >= Self.countMax,
                let oldest = state.stays.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                state.stays[oldest.key] = nil
            }
            state.stays[Self.hash(secret)] = Stay(keyID: keyID, ownsKey: ownsKey, startedAt: now, usedAt: now)
        }
        return secret
    }

    /// The admin key of a cookie; nil if the browser was idle for too long, or has left.
    ///
    /// - Parameter isUse: whether the request counts as use, as one that a page makes by itself does not.
    func keyID(of secret: String, at now: Instant, isUse: Bool) -> String? {
        state.withLock { state in
            let hash = Self.hash(secret)
            guard let stay = state.stays[hash], stay.isLiving(at: now) else { return nil }
            if isUse { state.stays[hash]?.usedAt = max(now, stay.usedAt) }
            return stay.keyID
        }
    }

    /// Lets a browser leave. Returns the key that was made for it, which is of no more use.
    func close(_ secret: String) -> String? {
        state.withLock { state in
            state.stays.removeValue(forKey: Self.hash(secret)).flatMap { $0.ownsKey ? $0.keyID : nil }
        }
    }

    /// Makes a link for a browser. Returns its token.
    func makeLink(_ link: ConsoleEntry.Link, at now: Instant, random: RandomSource) -> String {
        let secret = "sjl_" + Base64URL.encode(random.bytes(32))
        state.withLock { state in
            state.links = state.links.filter { now < $0.value.expiresAt }
            if state.links.count < Self.countMax { state.links[Self.hash(secret)] = link }
        }
        return secret
    }

    /// The link of a token; nil if it has expired or was used.
    func link(_ secret: String, at now: Instant) -> ConsoleEntry.Link? {
        state.withLock { $0.links[Self.hash(secret)] }.flatMap { now < $0.expiresAt ? $0 : nil }
    }

    /// Uses a link up.
    func take(_ secret: String, at now: Instant) -> ConsoleEntry.Link? {
        state.withLock { $0.links.removeValue(forKey: Self.hash(secret)) }.flatMap { now < $0.expiresAt ? $0 : nil }
    }
}
