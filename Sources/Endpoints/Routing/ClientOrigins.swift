internal import Locks
internal import Sessions

/// The origins of all clients, in memory, because a preflight names no client. They are read again when the store has another
/// revision, when they are old, and for an origin that is not among them. A client's own list is never taken from here.
final class ClientOrigins: Sendable {
    /// How long a removed origin can stay here, where the store has no revision in memory. Its requests are refused all the same.
    static let lifetime: Int64 = 60_000_000_000
    /// How many times in a second strangers can make this object ask the store.
    static let looksPerSecond = 10

    private struct Held: Sendable {
        var origins: Set<String> = []
        var revision: Int64?
        var readAt: Int64 = 0
        /// The second of the last looks, and their number in it.
        var second: Int64 = 0
        var looks = 0
    }

    private let context: ServiceContext
    private let stopwatch: @Sendable () -> Int64
    private let own: String?
    private let held = Locked(Held())

    /// - Parameter stopwatch: nanoseconds since some moment.
    init(_ context: ServiceContext, stopwatch: @escaping @Sendable () -> Int64) {
        self.context = context
        self.stopwatch = stopwatch
        own = WebOrigin.text(ofPage: context.issuer)
    }

    /// Whether the origin is that of the server.
    func isOwn(_ origin: String) -> Bool { own?.utf8.elementsEqual(origin.utf8) ?? false }

    /// Whether a client had the origin when the clients were last read, or it is that of the server.
    func contains(_ origin: String) -> Bool {
        isOwn(origin) || Self.isPlain(origin) && held.withLock { $0.origins.contains(origin) }
    }

    /// Whether the answer of `contains` is as good as one of the store would be.
    func isSure(of origin: String) -> Bool {
        guard !isOwn(origin), Self.isPlain(origin) else { return true }
        let (revision, now) = (context.store.keyRevision, stopwatch())
        return held.withLock {
            $0.revision == revision && now - $0.readAt < Self.lifetime && $0.origins.contains(origin)
        }
    }

    /// Reads the origins again, unless strangers have made this object do so too often. A store that fails changes nothing.
    func look() async {
        let now = stopwatch()
        let isAdmitted = held.withLock { held in
            let second = now / 1_000_000_000
            if held.second != second { (held.second, held.looks) = (second, 0) }
            held.looks += 1
            return held.looks <= Self.looksPerSecond
        }
        guard isAdmitted else { return }
        let revision = context.store.keyRevision
        guard let clients = try? await context.store.catalogue().clients else { return }
        let origins = Set(clients.values.flatMap(\.allowedOrigins).map(\.text))
        held.withLock { ($0.origins, $0.revision, $0.readAt) = (origins, revision, now) }
    }

    /// Whether a text is ASCII, because Unicode has other letters that compare equal to some of these.
    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}
