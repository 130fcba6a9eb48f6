import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// The life of a stream of security events, and what a receiver that polls gets (OpenID Shared Signals Framework 1.0, RFC 8936).
@Suite struct EventStreamTests {
    @Test func theMetadataNamesEachEndpoint() async throws {
        try await EventStreamFixture.with { receiver in
            let metadata = await receiver.server.call(.get, "/.well-known/ssf-configuration")
            let issuer = EndpointsFixture.issuer
            #expect(metadata.string("spec_version") == "1_0" && metadata.string("issuer") == issuer)
            #expect(metadata.string("jwks_uri") == issuer + "/oauth/jwks")
            #expect(metadata.strings("delivery_methods_supported") == ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"])
            for (name, path) in [
                ("configuration_endpoint", "/ssf/stream"), ("status_endpoint", "/ssf/status"),
                ("verification_endpoint", "/ssf/verify"),
            ] {
                #expect(metadata.value([name])?.string == issuer + path)
                #expect(await receiver.server.call(.get, path).status != 404)
            }
            #expect(metadata.elements("authorization_schemes").map { $0.string("spec_urn") } == ["urn:ietf:rfc:6749"])
        }
    }

    @Test func aStreamIsMadeReadChangedReplacedAndDeleted() async throws {
        try await EventStreamFixture.with { receiver in
            #expect(await receiver.call(.get, "/ssf/stream").text == "[]")
            let id = try await receiver.make(["https://example.com/unknown", EventStreamFixture.revoked])
            let stream = await receiver.call(.get, "/ssf/stream?stream_id=\(id)")
            #expect(stream.string("aud") == "siem" && stream.string("description") == "the SIEM")
            #expect(stream.strings("events_requested") == [EventStreamFixture.revoked])
            #expect(stream.strings("events_supported") == EventStreamFixture.all)
            #expect(stream.string("delivery", "endpoint_url") == EndpointsFixture.issuer + "/ssf/poll")
            #expect(await receiver.call(.post, "/ssf/stream", "{}").string("code") == "stream_exists")
            let pushed = await receiver.call(
                .patch, "/ssf/stream",
                #"{"stream_id":"\#(id)","delivery":{"method":"urn:ietf:rfc:8935","endpoint_url":"https://siem.example/in","authorization_header":"Bearer topsecret"}}"#
            )
            #expect(pushed.string("delivery", "endpoint_url") == "https://siem.example/in")
            #expect(
                pushed.strings("events_requested") == [EventStreamFixture.revoked] && !pushed.text.contains("topsecret")
            )
            // The secret is not readable in the database either.
            let stored = try await receiver.server.store.client("siem")?.eventStream?.text
            #expect(stored?.contains("siem.example") == true && stored?.contains("topsecret") == false)
            let replaced = await receiver.call(.put, "/ssf/stream", #"{"stream_id":"\#(id)"}"#)
            #expect(replaced.strings("events_requested") == [] && replaced.string("description") == nil)
            #expect(replaced.string("delivery", "method") == "urn:ietf:rfc:8936")
            #expect(await receiver.call(.delete, "/ssf/stream?stream_id=other").status == 404)
            #expect(await receiver.call(.delete, "/ssf/stream?stream_id=\(id)").status == 204)
            #expect(await receiver.call(.get, "/ssf/stream?stream_id=\(id)").status == 404)
            #expect(try await receiver.server.store.deliveries().isEmpty)
            let words = await receiver.server.admin(.get, "/admin/v1/events").items
                .filter { $0.string("event") == "event_stream_changed" }.map { $0.string("reason") }
            #expect(Set(words) == ["created", "changed", "deleted"])
        }
    }

    @Test func onlyTheScopeOfStreamsOpensThem() async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make()
            let (read, other) = (try await receiver.token("ssf.read"), try await receiver.token("read"))
            #expect(await receiver.call(.get, "/ssf/stream?stream_id=\(id)", bearer: read).status == 200)
            #expect(await receiver.call(.get, "/ssf/status?stream_id=\(id)", bearer: read).status == 200)
            let calls: [(Method, String, String?)] = [
                (.post, "/ssf/stream", "{}"), (.patch, "/ssf/stream", #"{"stream_id":"\#(id)"}"#),
                (.put, "/ssf/stream", #"{"stream_id":"\#(id)"}"#), (.delete, "/ssf/stream?stream_id=\(id)", nil),
                (.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"disabled"}"#),
                (.post, "/ssf/verify", #"{"stream_id":"\#(id)"}"#), (.post, "/ssf/poll", "{}"),
            ]
            let user = try await receiver.server.logIn()
            for (method, target, body) in calls {
                for token in [read, other] {
                    let answer = await receiver.call(method, target, body, bearer: token)
                    #expect(
                        answer.status == 403 && answer.string("code") == "insufficient_scope", "\(method) \(target)")
                }
                #expect(await receiver.call(method, target, body, bearer: user.access).status == 401)
                #expect(await receiver.server.call(method, target, body).status == 401)
            }
            #expect(await receiver.call(.get, "/ssf/status?stream_id=\(id)").string("status") == "enabled")
        }
    }

    @Test func eachEventComesOnceItHappensAndUntilItIsAcknowledged() async throws {
        try await EventStreamFixture.with { receiver in
            let earlier = try await receiver.server.logIn(device: "earlier")
            _ = await receiver.server.admin(.delete, "/admin/v1/sessions/\(earlier.sessionID)")
            receiver.server.moveClock(to: 5)
            _ = try await receiver.make()
            #expect(try await receiver.poll().isEmpty)
            let login = try await receiver.server.logIn()
            _ = await receiver.server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another long horse"}"#,
                bearer: login.access)
            _ = await receiver.server.admin(.post, "/admin/v1/users/\(login.userID)/disable", "{}")
            _ = await receiver.server.admin(.post, "/admin/v1/users/\(login.userID)/enable")
            _ = await receiver.server.admin(.delete, "/admin/v1/sessions/\(login.sessionID)")
            _ = await receiver.server.admin(.delete, "/admin/v1/users/\(login.userID)")
            let events = try await receiver.poll()
            let words = events.map { $0.kind?.split(separator: "/").last.map(String.init) }
            #expect(
                words == [
                    "session-established", "credential-change", "account-disabled", "account-enabled",
                    "session-revoked",
                    "account-purged",
                ])
            let credential = events[1]
            #expect(credential.member("credential_type")?.string == "password")
            #expect(credential.member("change_type")?.string == "update")
            #expect(credential.member("initiating_entity")?.string == "user")
            let end = events[4]
            #expect(end.member("initiating_entity")?.string == "admin")
            #expect(end.member("reason_admin")?["en"]?.string == "revoked_by_admin")
            #expect(end.member("event_timestamp") == .integer(EndpointsFixture.start + 5))
            #expect(end.claims.string("sub_id", "format") == "complex")
            #expect(end.claims.string("sub_id", "session", "id") == login.sessionID)
            #expect(end.claims.string("sub_id", "user", "sub") == login.userID)
            #expect(events[5].claims.string("sub_id", "sub") == login.userID)
            // Unacknowledged events come again with the same jti, in the same order.
            #expect(try await receiver.poll().map(\.id) == events.map(\.id))
            #expect(
                try await receiver.poll(receiver.acknowledge(Array(events.prefix(2)))).map(\.id)
                    == events.dropFirst(2).map(\.id))
            // An acknowledged event behind one that waits comes again.
            #expect(
                try await receiver.poll(receiver.acknowledge([events[3]])).map(\.id) == events.dropFirst(2).map(\.id))
            #expect(try await receiver.poll(receiver.acknowledge(Array(events.dropFirst(2)))).isEmpty)
            #expect(try await receiver.poll().isEmpty)
        }
    }

    @Test func aTokenIsSignedByAKeyOfTheSetAndIsOfItsOwnType() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make()
            _ = try await receiver.server.logIn()
            let event = try #require(try await receiver.poll().first)
            #expect(event.header.string("typ") == "secevent+jwt" && event.header.string("alg") == "RS256")
            let kid = try #require(event.header.string("kid"))
            let keys = await receiver.server.call(.get, "/oauth/jwks").elements("keys")
            let key = try #require(keys.first { $0.string("kid") == kid })
            #expect(key.string("kty") == "RSA")
            #expect(event.claims.string("iss") == EndpointsFixture.issuer && event.claims.string("aud") == "siem")
            // RFC 8417 section 2.2: a receiver must not take it for another token.
            #expect(event.claims.names == ["aud", "events", "iat", "iss", "jti", "sub_id"])
            #expect(await receiver.server.call(.get, "/v1/me", bearer: event.text).status == 401)
        }
    }

    @Test func aPausedStreamKeepsAndADisabledOneDrops() async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make([EventStreamFixture.revoked])
            func set(_ status: String) async {
                let answer = await receiver.call(
                    .post, "/ssf/status", #"{"stream_id":"\#(id)","status":"\#(status)","reason":"maintenance"}"#)
                #expect(answer.string("status") == status && answer.string("reason") == "maintenance")
            }
            func end(_ device: String) async throws -> String {
                let login = try await receiver.server.logIn(device: device)
                _ = await receiver.server.admin(.delete, "/admin/v1/sessions/\(login.sessionID)")
                return login.sessionID
            }
            await set("paused")
            let kept = try await end("a")
            #expect(try await receiver.poll().isEmpty)
            await set("enabled")
            #expect(try await receiver.poll().map { $0.claims.string("sub_id", "session", "id") } == [kept])
            await set("disabled")
            receiver.server.moveClock(to: 10)
            _ = try await end("b")
            receiver.server.moveClock(to: 20)
            // This one ends in the second in which the stream is enabled.
            _ = try await end("b2")
            await set("enabled")
            let after = try await end("c")
            #expect(try await receiver.poll().map { $0.claims.string("sub_id", "session", "id") } == [after])
        }
    }

    @Test func aVerificationEventReturnsItsState() async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make([])
            let asked = await receiver.call(.post, "/ssf/verify", #"{"stream_id":"\#(id)","state":"VGhpcw=="}"#)
            #expect(asked.status == 204)
            let events = try await receiver.poll()
            #expect(events.count == 1 && events.first?.kind?.hasSuffix("/ssf/event-type/verification") == true)
            #expect(events.first?.member("state")?.string == "VGhpcw==")
            #expect(events.first?.claims.string("sub_id", "id") == id)
            #expect(await receiver.call(.post, "/ssf/verify", #"{"stream_id":"\#(id)"}"#).status == 429)
            #expect(try await receiver.poll(receiver.acknowledge(events)).isEmpty)
            receiver.server.moveClock(to: 10)
            #expect(await receiver.call(.post, "/ssf/verify", #"{"stream_id":"\#(id)"}"#).status == 204)
            #expect(try await receiver.poll().first?.member("state") == nil)
            _ = await receiver.call(.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"disabled"}"#)
            receiver.server.moveClock(to: 30)
            #expect(
                await receiver.call(.post, "/ssf/verify", #"{"stream_id":"\#(id)"}"#).string("code")
                    == "stream_disabled")
        }
    }

    @Test func aPollIsBoundedAndSaysThatMoreWait() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            for number in 0..<5 { _ = try await receiver.server.logIn(device: "d\(number)") }
            let first = await receiver.call(.post, "/ssf/poll", #"{"maxEvents":2,"returnImmediately":true}"#)
            #expect(first.bool("moreAvailable") == true)
            var (seen, members): ([String], String) = ([], #""maxEvents":2"#)
            for _ in 0..<3 {
                let events = try await receiver.poll(members)
                #expect(events.count <= 2)
                seen += events.map(\.id)
                members = #""maxEvents":2,\#(receiver.acknowledge(events))"#
            }
            #expect(seen.count == 5 && Set(seen).count == 5)
            #expect(try await receiver.poll(members).isEmpty)
            // A poll can only acknowledge.
            #expect(await receiver.call(.post, "/ssf/poll", #"{"maxEvents":0}"#).text == #"{"sets":{}}"#)
        }
    }

    @Test func aRefusedEventIsNotSentAgainAndIsInTheTrail() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            _ = try await receiver.server.logIn()
            let event = try #require(try await receiver.poll().first)
            let refusal = #""setErrs":{"\#(event.id)":{"err":"authentication_failed","description":"no"},"x":{}}"#
            #expect(try await receiver.poll(refusal).isEmpty)
            #expect(try await receiver.poll().isEmpty)
            let words = await receiver.server.admin(.get, "/admin/v1/events").items
                .filter { $0.string("event") == "event_stream_changed" }.map { $0.string("reason") }
            #expect(words.contains("1 refused"))
        }
    }

    @Test func badInputGetsAClearError() async throws {
        try await EventStreamFixture.with { receiver in
            for (delivery, member) in [
                (#"{"method":"urn:ietf:rfc:8935"}"#, "delivery.endpoint_url"),
                (#"{"method":"urn:ietf:rfc:8935","endpoint_url":"http://siem.example/in"}"#, "delivery.endpoint_url"),
                (#"{"method":"urn:ietf:rfc:8935","endpoint_url":"file:///etc/passwd"}"#, "delivery.endpoint_url"),
                (
                    #"{"method":"urn:ietf:rfc:8935","endpoint_url":"http://127.0.0.1:8081/admin/v1/revoke-all"}"#,
                    "delivery.endpoint_url"
                ),
                (
                    #"{"method":"urn:ietf:rfc:8935","endpoint_url":"https://u:p@siem.example/"}"#,
                    "delivery.endpoint_url"
                ),
                (
                    #"{"method":"urn:ietf:rfc:8935","endpoint_url":"https://siem.example","authorization_header":"a\r\nb: c"}"#,
                    "delivery.authorization_header"
                ),
                (#"{"method":"push"}"#, "delivery.method"), ("{}", "delivery.method"), ("3", "delivery"),
            ] {
                let answer = await receiver.call(.post, "/ssf/stream", #"{"delivery":\#(delivery)}"#)
                #expect(answer.status == 400 && answer.string("member") == member, "\(delivery): \(answer.text)")
            }
            for body in [
                #"{"events_requested":"all"}"#, #"{"description":""}"#, #"{"description":"a\nb"}"#, #"{"surprise":1}"#,
            ] {
                #expect(await receiver.call(.post, "/ssf/stream", body).status == 400, "\(body)")
            }
            #expect(await receiver.call(.get, "/ssf/stream").text == "[]")
            #expect(await receiver.call(.post, "/ssf/poll", "{}").status == 404)
            let id = try await receiver.make()
            for body in [#"{"maxEvents":-1}"#, #"{"ack":"x"}"#, #"{"setErrs":[]}"#] {
                #expect(await receiver.call(.post, "/ssf/poll", body).status == 400, "\(body)")
            }
            #expect(await receiver.call(.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"off"}"#).status == 400)
            #expect(await receiver.call(.get, "/ssf/status").status == 400)
            #expect(await receiver.call(.get, "/ssf/status?stream_id=other").status == 404)
        }
    }

    @Test func anAdminSeesAndEndsTheStream() async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make()
            let items = await receiver.server.admin(.get, "/admin/v1/event-streams").items
            #expect(items.map { $0.string("stream_id") } == [id] && items.first?.string("client_id") == "siem")
            #expect(await receiver.server.admin(.delete, "/admin/v1/event-streams/nobody").status == 404)
            #expect(await receiver.server.admin(.delete, "/admin/v1/event-streams/siem").status == 204)
            #expect(await receiver.call(.post, "/ssf/poll", "{}").status == 404)
            // A client that is deleted takes its stream along.
            _ = try await receiver.make()
            #expect(await receiver.server.admin(.delete, "/admin/v1/clients/siem").status == 204)
            #expect(await receiver.server.admin(.get, "/admin/v1/event-streams").items.isEmpty)
            #expect(await receiver.call(.post, "/ssf/poll", "{}").status == 401)
        }
    }
}
