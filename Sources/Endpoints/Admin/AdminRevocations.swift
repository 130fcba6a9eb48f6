internal import HTTP
internal import Sessions

extension Endpoints {
    /// The longest time for which a long poll waits.
    static let longestWait = Duration.seconds(60)
    /// The longest time between two checks of the admin key while nothing happens in an open stream.
    static let trust = Duration.seconds(15)
    /// The age of the last check that is enough for sending news. Each piece of a busy feed would otherwise cost a read.
    private static let trustNanoseconds: Int64 = 1_000_000_000

    /// `GET /admin/v1/revocations?cursor=&limit=&wait=`: lists the revocations that affect access tokens before their expiry.
    ///
    /// Without a cursor, the answer begins with all revocations that still matter; with one, it continues after that
    /// revocation. The answer is a page, or a stream of server-sent events if `Accept` names them. An empty page waits up to
    /// `wait` seconds for the next revocation.
    func followRevocations(_ call: Call) async throws -> StreamingAnswer {
        let query = try QueryParameters(call, known: ["cursor", "limit", "wait"])
        let limit = try query.limit()
        let wait = try query.seconds("wait", max: Self.longestWait) ?? .zero
        let acceptsEvents = Self.acceptsEvents(call.request)
        var place = RevocationCursor.start
        if let text = try query.text("cursor") { place = try Self.place(text, "cursor") }
        // In a stream, `Last-Event-ID` precedes `cursor`, because browsers and libraries resume with it, and it is the newer
        // one.
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
            // The admin key is checked again, because it may have been deleted during the wait.
            _ = try await admitted(call, for: [.feed])
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

    /// Returns true if the answer may wait. Only such answers count against the limit of streaming replies; a page without
    /// `wait` does not, nor does a poll with `returnImmediately`.
    static func waits(_ request: Request) -> Bool {
        if request.method == .post { return !asksForImmediateAnswer(request) }
        if acceptsEvents(request) { return true }
        // The names are decoded as the handlers decode them: `w%61it` waits as well.
        return ((try? request.queryItems()) ?? []).contains { $0.name == "wait" }
    }

    static func acceptsEvents(_ request: Request) -> Bool {
        request.fields.values("Accept").contains { $0.contains("text/event-stream") }
    }

    private static func place(_ text: String, _ name: String) throws -> RevocationCursor {
        guard let place = RevocationCursor(text) else {
            throw RequestProblem.invalid(name, "must be a cursor of this feed")
        }
        return place
    }

    /// Streams the feed as server-sent events (HTML standard). Each event's id is the cursor of that event. The event
    /// `caught_up` marks the end of the revocations that existed before.
    private func events(after place: RevocationCursor, for call: Call) -> StreamedResponse {
        var head = Response(.ok, "text/event-stream", Array("retry: 1000\n\n".utf8))
        // nginx must not buffer the stream, because it would hold events back until its buffer page is full.
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
                    // The stream ends on an unknown cursor, because the next request with that cursor gets the error.
                    guard let found else { return }
                    page = found
                    // The stream ends when the admin key is no longer valid.
                    if stopwatch() - checkedAt >= Self.trustNanoseconds || isCaughtUp && page.isEmpty {
                        _ = try await admitted(call, for: [.feed])
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

/// A page of the feed. It always has a `next_cursor`, because the feed never ends.
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

/// A revocation in the feed.
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

extension Route {
    static let followRevocations = Route(
        .get, "/admin/v1/revocations", on: .admin, .streaming(.feed) { try await $0.followRevocations($1) },
        Operation(
            "follow_revocations", .operation, "Follow revocations",
            """
            The feed for resource servers: tokens that end before they expire. Without a cursor it begins with \
            everything that still matters; new items follow in the same order for every reader. The answer is a page, which \
            waits up to `wait` seconds for an item. With `Accept: text/event-stream` it is a stream of \
            server-sent events. The id of each event is the cursor, and `caught_up` marks the end of the earlier \
            items.
            """,
            parameters: ["cursor.revocations", "limit", "wait.revocations", "Last-Event-ID"],
            answers: [.inline(200, "Revocations")], errors: [.unknownCursor]))
}
