internal import HTTP
internal import Sessions

extension Endpoints {
    /// How long a long poll waits at most.
    static let longestWait = Duration.seconds(60)
    /// How long a stream is believed to be still allowed.
    static let trust = Duration.seconds(15)
    private static let trustNanoseconds: Int64 = 15_000_000_000

    /// `GET /admin/v1/revocations?cursor=&limit=&wait=`: which rolling tokens that have not expired are good for nothing any more. Without a
    /// cursor, all that still matters; then what is new. As a page, which `wait` seconds are waited for if there is nothing,
    /// or as server-sent events for those who accept that.
    func followRevocations(_ call: Call) async throws -> StreamingAnswer {
        let query = try QueryParameters(call, known: ["cursor", "limit", "wait"])
        let limit = try query.limit()
        let wait = try query.seconds("wait", max: Self.longestWait) ?? .zero
        let acceptsEvents = Self.acceptsEvents(call.request)
        var place = RevocationCursor.start
        if let text = try query.text("cursor") { place = try Self.place(text, "cursor") }
        // A browser's or a library's own way to resume a stream is as good as ours, and newer.
        if let last = try call.onlyField("Last-Event-ID"), !last.isEmpty {
            let named = try Self.place(last, "Last-Event-ID")
            if acceptsEvents { place = named }
        }
        if acceptsEvents {
            guard try await revocations.knows(place) else { throw RequestProblem.unknownCursor }
            return .stream(events(after: place, for: call))
        }
        let found: [Revocation]?
        if wait > .zero {
            found = try await revocations.next(after: place, limit: limit, patience: wait)
            // The key may have gone meanwhile.
            _ = try await authenticatedAdmin(call, for: .feed)
        } else {
            found = try await revocations.page(after: place, limit: limit)
        }
        guard let page = found else { throw RequestProblem.unknownCursor }
        let next = page.last.map(RevocationCursor.init(after:)) ?? place
        return .whole(
            try .json(
                RevocationPageAnswer(
                    items: page.map(RevocationAnswer.init), nextCursor: next.description, hasMore: page.count == limit))
        )
    }

    /// Whether the answer may take its time: a page that is not waited for is an answer like any other, and is there for more
    /// than may wait.
    static func waits(_ request: Request) -> Bool {
        acceptsEvents(request) || request.target.query?.contains("wait") == true
    }

    private static func acceptsEvents(_ request: Request) -> Bool {
        request.fields.values("Accept").contains { $0.contains("text/event-stream") }
    }

    private static func place(_ text: String, _ name: String) throws -> RevocationCursor {
        guard let place = RevocationCursor(text) else {
            throw RequestProblem.invalid(name, "must be a cursor of this feed")
        }
        return place
    }

    /// The feed as the HTML standard's server-sent events. Every event's id is the cursor to go on from; when all that there
    /// was has been sent, the event `caught_up` says so.
    private func events(after place: RevocationCursor, for call: Call) -> StreamedResponse {
        var head = Response(.ok, "text/event-stream", Array("retry: 1000\n\n".utf8))
        // nginx would keep the pieces until it has a page of them.
        head.fields.append("X-Accel-Buffering", "no")
        head.fields.append("Cache-Control", "no-store")
        return StreamedResponse(head: head, heartbeat: Array(":\n\n".utf8)) { [self] reader in
            var cursor = place
            var isCaughtUp = false
            var checkedAt = stopwatch()
            while !Task.isCancelled {
                let page: [Revocation]
                do {
                    let found =
                        isCaughtUp
                        ? try await revocations.next(
                            after: cursor, limit: RevocationFeed.pageMax, patience: Self.trust)
                        : try await revocations.page(after: cursor, limit: RevocationFeed.pageMax)
                    // Who comes again is told that the place is unknown.
                    guard let found else { return }
                    page = found
                    // Whose key has gone is told nothing more.
                    if stopwatch() - checkedAt >= Self.trustNanoseconds || isCaughtUp && page.isEmpty {
                        _ = try await authenticatedAdmin(call, for: .feed)
                        checkedAt = stopwatch()
                    }
                } catch { return }
                if let last = page.last { cursor = RevocationCursor(after: last) }
                var piece: [UInt8] = []
                for revocation in page {
                    piece += Array("id: \(RevocationCursor(after: revocation))\ndata: ".utf8)
                    piece += JSONAnswer.encodeOrEmpty(RevocationAnswer(revocation))
                    piece += Array("\n\n".utf8)
                }
                if !isCaughtUp, page.count < RevocationFeed.pageMax {
                    isCaughtUp = true
                    piece += Array("id: \(cursor)\nevent: caught_up\ndata: {\"cursor\":\"\(cursor)\"}\n\n".utf8)
                }
                if await !reader.send(piece) { return }
            }
        }
    }
}

/// A part of the feed. It never ends, so that there is always a cursor to go on from.
struct RevocationPageAnswer: Encodable {
    let items: [RevocationAnswer]
    let nextCursor: String
    let hasMore: Bool

    enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
        case hasMore = "has_more"
    }
}

/// A line of the feed.
struct RevocationAnswer: Encodable {
    let id: String
    let words: RevocationWords
    let reason: String?

    init(_ revocation: Revocation) {
        id = RevocationCursor(after: revocation).description
        words = RevocationWords(revocation)
        reason = revocation.reason
    }

    func encode(to encoder: any Encoder) throws {
        try words.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(reason, forKey: .reason)
    }

    private enum CodingKeys: String, CodingKey { case id, reason }
}
