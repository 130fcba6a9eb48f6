internal import Cryptography

/// Makes, changes and deletes streams of security events, at the wish of the client that receives them (OpenID Shared Signals
/// Framework 1.0 section 8.1).
public final class EventStreamService: UseCase {
    let context: ServiceContext
    /// Opens what receivers want to see in the field `Authorization`.
    public let secrets: StreamSecrets
    /// The polls that wait at this node.
    let polls = WaitingPolls()
    let now: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (Duration) async -> Void

    /// The service over `context`. A poll that waits reads the time by `now`, and waits by `sleep`.
    public init(
        _ context: ServiceContext, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.context = context
        secrets = context.streamSecrets
        (self.now, self.sleep) = (now, sleep)
    }

    /// What a receiver wants of its stream. A member without a value stays as it is.
    public struct Wish: Sendable {
        /// The way of the events.
        public enum Delivery: Sendable {
            /// To this URL, with this value of the field `Authorization`.
            case push(endpoint: String, authorization: String?)
            case poll
        }

        /// The way of the events.
        public var delivery: Delivery?
        /// The URIs of the kinds of events. Unknown ones are left out (section 8.1.1).
        public var requested: [String]?
        /// The receiver's own description; `.some(nil)` removes it.
        public var description: String??

        /// A wish.
        public init(delivery: Delivery? = nil, requested: [String]? = nil, description: String?? = nil) {
            (self.delivery, self.requested, self.description) = (delivery, requested, description)
        }
    }

    /// The client's stream; nil without one. Throws `notFound` if `id` is not its id.
    public func stream(of clientID: String, id: String?) async throws(ServiceError) -> EventStream? {
        let client = try await inStore(await store.client(clientID))
        guard let stream = client?.eventStream, id == nil || id == stream.id else {
            if id == nil { return nil }
            throw Self.unknown
        }
        return stream
    }

    /// All streams, by client.
    public func all() async throws(ServiceError) -> [EventStreamReport] {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let (catalogue, deliveries) = (reader.catalogue(), reader.deliveries())
                return try reader.eventStreams(of: try catalogue.value().clients.inOrder, try deliveries.value())
                    .value()
            })
    }

    /// The client's stream. Throws `notFound` without one.
    public func requiredStream(of clientID: String) async throws(ServiceError) -> EventStream {
        guard let stream = try await stream(of: clientID, id: nil) else { throw Self.unknown }
        return stream
    }

    /// Makes the client's stream, which begins with the next event. Throws `conflict` if it has one.
    public func create(
        _ wish: Wish, of clientID: String, by origin: Origin
    ) async throws(ServiceError) -> EventStream {
        let now = context.clock.now
        let delivery = try sealed(wish.delivery ?? .poll)
        let stream = EventStream(
            id: Base64URL.encode(context.random.bytes(12)), delivery: delivery,
            requested: Self.kinds(wish.requested ?? []),
            description: try Self.text(wish.description ?? nil, "description"), since: now)
        // The trail may be long, and nothing in it is for this stream.
        let last = try await inStore(await store.lastEvent())
        let name = DeliveryProgress.name(ofStream: stream.id)
        try await setProgress(name) { progress in
            var first = DeliveryProgress(since: now)
            first.cursor = last
            progress = first
        }
        do throws(ServiceError) {
            try await change(clientID, "created", by: origin) { client in
                guard client.eventStream == nil else {
                    return .conflict(code: "stream_exists", detail: "the client has a stream: change or delete it")
                }
                client.eventStream = stream
                return nil
            }
        } catch {
            try await setProgress(name) { $0 = nil }
            throw error
        }
        return stream
    }

    /// Changes the client's stream. With `replaces`, members without a value get their defaults.
    public func update(
        _ wish: Wish, of clientID: String, id: String, replaces: Bool, by origin: Origin
    ) async throws(ServiceError) -> EventStream {
        let delivery: EventStream.Delivery? =
            if let wished = wish.delivery { try sealed(wished) } else if replaces { .poll } else { nil }
        let requested = wish.requested.map(Self.kinds) ?? (replaces ? [] : nil)
        var description = wish.description
        if replaces, description == nil { description = .some(nil) }
        let words = try description.map { text throws(ServiceError) in try Self.text(text, "description") }
        return try await change(clientID, id, "changed", by: origin) { stream in
            if let delivery { stream.delivery = delivery }
            if let requested { stream.requested = requested }
            if let words { stream.description = words }
            return nil
        }
    }

    /// Deletes the client's stream, and the events that wait in it.
    public func delete(of clientID: String, id: String, by origin: Origin) async throws(ServiceError) {
        try await change(clientID, "deleted", by: origin) { client in
            guard client.eventStream?.id == id else { return Self.unknown }
            client.eventStream = nil
            return nil
        }
        try await setProgress(DeliveryProgress.name(ofStream: id)) { $0 = nil }
    }

    /// Sets the status of the client's stream (section 8.1.2).
    public func setStatus(
        _ status: EventStream.Status, because reason: String?, of clientID: String, id: String, by origin: Origin
    ) async throws(ServiceError) -> EventStream {
        let reason = try Self.text(reason, "reason")
        let now = context.clock.now
        let old = try await stream(of: clientID, id: id)?.status
        if old == .disabled, status != .disabled {
            // What happened while the stream was disabled is dropped, in this very second too, which `since` does not tell apart.
            let last = try await inStore(await store.lastEvent())
            try await setProgress(DeliveryProgress.name(ofStream: id)) { progress in
                if let cursor = progress?.cursor { progress?.cursor = max(cursor, last) }
            }
        }
        return try await change(clientID, id, status.rawValue, by: origin) { stream in
            stream.set(status, because: reason, at: now)
            return nil
        }
    }

    /// Lets the stream carry a verification event, which returns `state` to the receiver (section 8.1.4). Throws
    /// `tooManyRequests` within `EventStream.minVerificationInterval` of the last one.
    public func requestVerification(
        state: String?, of clientID: String, id: String, by origin: Origin
    ) async throws(ServiceError) {
        let state = try Self.text(state, "state")
        let now = context.clock.now
        _ = try await change(clientID, id, nil, by: origin) { stream in
            guard stream.status != .disabled else {
                return .conflict(code: "stream_disabled", detail: "the stream is disabled: enable it first")
            }
            let next = stream.verificationRequestedAt.map { $0 + EventStream.minVerificationInterval } ?? now
            // A clock that was set back must not refuse for longer than the interval.
            if next > now, next <= now + EventStream.minVerificationInterval {
                return .tooManyRequests(retryAfter: next - now)
            }
            stream.verification = EventStream.Verification(state: state, requestedAt: now)
            stream.verificationRequestedAt = now
            return nil
        }
    }

    /// Removes the verification event that the receiver has taken.
    public func finish(
        _ verification: EventStream.Verification, of clientID: String, id: String
    ) async throws(StoreError) {
        try await store.updateClient(clientID) { change in
            if change.client?.eventStream?.id == id, change.client?.eventStream?.verification == verification {
                change.client?.eventStream?.verification = nil
            }
        }
    }
}

extension EventStreamService {
    private static let unknown = ServiceError.notFound("stream")

    private func change(
        _ clientID: String, _ id: String, _ word: String?, by origin: Origin,
        _ edit: @escaping @Sendable (inout EventStream) -> ServiceError?
    ) async throws(ServiceError) -> EventStream {
        let client = try await change(clientID, word, by: origin) { client in
            guard var stream = client.eventStream, stream.id == id else { return Self.unknown }
            if let problem = edit(&stream) { return problem }
            client.eventStream = stream
            return nil
        }
        guard let stream = client.eventStream else { throw Self.unknown }
        return stream
    }

    /// Changes the client, and records it as `word`, unless nothing changes.
    @discardableResult private func change(
        _ clientID: String, _ word: String?, by origin: Origin,
        _ edit: @escaping @Sendable (inout Client) -> ServiceError?
    ) async throws(ServiceError) -> Client {
        let now = context.clock.now
        let result = try await inStore(
            await store.updateClient(clientID) { change -> Result<Client, ServiceError> in
                guard let existing = change.client else { return .failure(.notFound("client")) }
                var client = existing
                if let problem = edit(&client) { return .failure(problem) }
                if client != existing {
                    change.client = client
                    if let word {
                        change.events.append(
                            AuditEvent(.eventStreamChanged, at: now, by: origin, clientID: clientID, reason: word))
                    }
                }
                return .success(client)
            })
        return try result.get()
    }

    private func setProgress(
        _ name: String, _ change: @escaping @Sendable (inout DeliveryProgress?) -> Void
    ) async throws(ServiceError) {
        try await inStore(await store.updateDelivery(name, change))
    }

    private func sealed(_ delivery: Wish.Delivery) throws(ServiceError) -> EventStream.Delivery {
        guard case .push(let endpoint, let authorization) = delivery else { return .poll }
        // A receiver elsewhere must not have this machine's own services called, which only listen on loopback.
        let isPlainAllowed = context.issuer.hasPrefix("http://")
        guard endpoint.utf8.count <= EventStream.secretLengthMax, RedirectURI.isWebPage(endpoint),
            isPlainAllowed || endpoint.lowercased().hasPrefix("https://")
        else {
            throw .invalid(
                member: "delivery.endpoint_url",
                detail: "must be an https URI\(isPlainAllowed ? ", or http with a loopback host," : "") "
                    + "without user and fragment")
        }
        guard let authorization else { return .push(endpoint: endpoint, sealedAuthorization: nil) }
        guard (1...EventStream.secretLengthMax).contains(authorization.utf8.count),
            authorization.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else {
            throw .invalid(
                member: "delivery.authorization_header",
                detail: "must have 1 to \(EventStream.secretLengthMax) visible ASCII characters")
        }
        return .push(endpoint: endpoint, sealedAuthorization: secrets.seal(authorization))
    }

    /// The known kinds among `uris`, each once.
    private static func kinds(_ uris: [String]) -> [SecurityEvent.Kind] {
        SecurityEvent.Kind.allCases.filter { uris.contains($0.rawValue) }
    }

    private static func text(_ text: String?, _ member: String) throws(ServiceError) -> String? {
        guard let text else { return nil }
        guard Text.isValid(text, lengthMax: EventStream.textLengthMax) else {
            throw .invalid(
                member: member, detail: "must have 1 to \(EventStream.textLengthMax) bytes and no control characters")
        }
        return text
    }
}

/// A stream, and how far its receiver is behind.
public struct EventStreamReport: Sendable {
    /// The client that receives the events.
    public let clientID: String
    /// The stream.
    public let stream: EventStream
    /// The events that the receiver has not taken, among the next `readMax` of the trail.
    public let waiting: Int
    /// Whether the trail has more than `readMax` events after those that the receiver has taken.
    public let mayHaveMore: Bool
    /// The time of the first of them.
    public let waitingSince: Instant?
    /// The time of the first failed delivery since the last successful one; nil if there is none.
    public let failingSince: Instant?

    /// The most events of the trail that a report reads for each stream.
    static let readMax = 1000
}

extension StoreReader {
    /// The streams of clients, by the progress of all deliveries.
    func eventStreams(of clients: [Client], _ all: [String: DeliveryProgress]) -> Answer<[EventStreamReport]> {
        let asked = clients.compactMap { client in
            client.eventStream.map { stream in
                let progress = all[DeliveryProgress.name(ofStream: stream.id)]
                let events = events(
                    after: progress?.cursor ?? 0, limit: EventStreamReport.readMax, userID: nil, sessionID: nil)
                return (client.id, stream, progress, events)
            }
        }
        return Answer { () throws(TransactionError) in
            try asked.map { (clientID, stream, progress, events) throws(TransactionError) in
                let page = try events.value()
                let waiting = page.filter { stream.event($0) != nil }
                return EventStreamReport(
                    clientID: clientID, stream: stream, waiting: waiting.count,
                    mayHaveMore: page.count == EventStreamReport.readMax, waitingSince: waiting.first?.event.at,
                    failingSince: progress?.failingSince)
            }
        }
    }
}

/// Encrypts what receivers want to see in the field `Authorization` of pushed events.
public struct StreamSecrets: Sendable {
    private static let purpose = "sojourn event streams"
    private static let name = "authorization"

    private let rootKeys: RootKeys
    private let random: RandomSource

    init(rootKeys: RootKeys, random: RandomSource) { (self.rootKeys, self.random) = (rootKeys, random) }

    func seal(_ text: String) -> [UInt8] {
        rootKeys.seal(Array(text.utf8), purpose: Self.purpose, name: Self.name, random: random)
    }

    /// The text; nil if no root key of this server decrypts it.
    public func open(_ sealed: [UInt8]) -> String? {
        rootKeys.open(sealed, purpose: Self.purpose, name: Self.name).map { String(decoding: $0, as: UTF8.self) }
    }
}
