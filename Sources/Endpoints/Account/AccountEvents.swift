internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The end of a browser's session, for an account page that is open.
extension Endpoints {
    /// The longest pause between two looks at the session. A recorded end comes sooner, by the revocation feed.
    private static let lookPause = Duration.seconds(15)

    /// `GET /account/events`: server-sent events, one of which is `ended`, when the session of the browser ends. The look at it is
    /// no use of the session, or an open page would keep it alive.
    func followAccount(_ call: Call) async throws -> StreamingAnswer {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        guard let handle = browserHandle(call, transport), Self.acceptsEvents(call.request) else {
            throw ServiceError.notFound("session")
        }
        let place = try waitingCalls.pagePlace(for: call.caller)
        return .stream(
            StreamedResponse(head: Self.eventStreamHead(), heartbeat: Array(":\n\n".utf8)) { [self] reader in
                defer { place.giveBack() }
                let watch = services.phoneLogins.watch
                do {
                    while !Task.isCancelled {
                        if try await services.pageLogin.accountSession(handle) == nil {
                            _ = await reader.send(Array("event: ended\ndata:\n\n".utf8))
                            return
                        }
                        await watch.pause(for: handle.id, atMost: Self.lookPause)
                    }
                } catch { return }
            })
    }

    /// The head of a stream of server-sent events for a page.
    static func eventStreamHead() -> Response {
        var head = Response(.ok, "text/event-stream", Array("retry: 2000\n\n".utf8))
        // nginx must not buffer the stream, because it would hold events back until its buffer page is full.
        head.fields.append("X-Accel-Buffering", "no")
        head.fields.append("Cache-Control", "no-store")
        return head
    }
}

extension Route {
    static let followAccount = Route(
        .get, "/account/events", errorFormat: .page, .openStreaming { try await $0.followAccount($1) },
        Operation(
            "followAccount", .accountPages, "The end of the browser's session",
            """
            Server-sent events, for an account page in a browser that a phone has let in: `ended` when the session \
            of the browser is over.
            """,
            answers: [
                .text("text/event-stream", "A stream of events."),
                .page(404, "The browser has no session, or does not accept events."),
            ]))
}
