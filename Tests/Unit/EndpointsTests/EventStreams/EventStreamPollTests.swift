import HTTP
import Locks
import Sessions
import Synchronization
import Testing

@testable import Endpoints
@testable import StoreConformance

/// Polls that wait for an event (RFC 8936 section 2.2).
struct EventStreamPollTests {
    /// Time that passes only while a poll waits.
    private final class Pauses: Sendable {
        private let state = Locked((now: ContinuousClock.now, pauses: [Duration]()))

        var all: [Duration] { state.withLock { $0.pauses } }

        /// A service with polls that wait in this time. `deed` happens in each pause, with its number.
        func service(
            of receiver: EventStreamFixture, over store: (any Store)? = nil,
            _ deed: @escaping @Sendable (Int) async -> Void = { _ in }
        ) -> EventStreamService {
            let context = receiver.server.context
            let counted = store.map { store in
                ServiceContext(
                    store: store, policy: context.policy, rootKeys: receiver.server.rootKeys,
                    signingKeys: context.signingKeys, passwords: context.passwords, clock: context.clock,
                    issuer: context.issuer, audience: context.audience)
            }
            return EventStreamService(
                counted ?? context, now: { self.state.withLock { $0.now } },
                sleep: { duration in
                    let number = self.state.withLock { state in
                        state.now += duration
                        state.pauses.append(duration)
                        return state.pauses.count
                    }
                    await deed(number)
                })
        }
    }

    private static let poll = StreamPoll(limit: 100)

    private func wait(_ service: EventStreamService, _ poll: StreamPoll = poll) async throws -> [String] {
        let origin = Origin(actor: "client:siem")
        return try await service.poll(poll, of: "siem", by: origin, patience: Endpoints.pollWait).tokens.map(\.id)
    }

    @Test func pollWithoutEvents_waitsForTheFirst() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let (server, pauses) = (receiver.server, Pauses())
            let service = pauses.service(of: receiver) { number in
                if number == 3 { _ = try? await server.logIn() }
            }
            let events = try await wait(service)
            #expect(try await events == receiver.poll().map(\.id) && events.count == 1)
            #expect(pauses.all == Array(repeating: .seconds(1), count: 3))
            // What waits already is answered without a pause.
            #expect(try await wait(service) == events && pauses.all.count == 3)
        }
    }

    @Test func eventAfterManyOfNoInterest_isFoundWithoutAPause() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let (context, pauses) = (receiver.server.context, Pauses())
            let other = AuditEvent(.eventStreamChanged, at: context.clock.now, by: Origin(actor: "system"))
            // More than one look reads.
            try await context.store.append(Array(repeating: other, count: 5200))
            _ = try await receiver.server.logIn()
            #expect(try await wait(pauses.service(of: receiver)).count == 1 && pauses.all.isEmpty)
        }
    }

    @Test("A poll that waits reads no event twice, and writes its cursor at its begin and its end only")
    func cost() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let (server, pauses) = (receiver.server, Pauses())
            let other = AuditEvent(.eventStreamChanged, at: server.context.clock.now, by: Origin(actor: "system"))
            try await server.store.append(Array(repeating: other, count: 4000))
            let store = ObservedStore(server.store)
            // Each second has an event for another receiver.
            let service = pauses.service(of: receiver, over: store) { _ in try? await server.store.append([other]) }
            let before = server.environment.transactions.load(ordering: .relaxed)
            #expect(try await wait(service).isEmpty && pauses.all.count == 30)
            let written = server.environment.transactions.load(ordering: .relaxed) - before - pauses.all.count
            #expect(written <= 2, "\(written)")
            // Twenty pages at the begin, and two reads at each look: the client, and what is new.
            let reads = store.calls.count { $0 == .read }
            #expect(reads <= 25 + 2 * 31, "\(reads)")
        }
    }

    @Test("A newer poll of a stream takes the place of the one that waits, which gets 429")
    func oneOfAStream() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let (pauses, isSecond, second) = (Pauses(), Locked(false), Locked<[String]?>(nil))
            let service = Locked<EventStreamService?>(nil)
            let polling = pauses.service(of: receiver) { number in
                let isFirst = isSecond.withLock { known in
                    defer { known = true }
                    return !known
                }
                guard isFirst, let service = service.withLock({ $0 }) else { return }
                let answer = try? await wait(service)
                second.withLock { $0 = answer }
            }
            service.withLock { $0 = polling }
            await #expect(throws: ServiceError.tooManyRequests(retryAfter: Endpoints.pollWait)) {
                try await wait(polling)
            }
            #expect(second.withLock { $0 } == [], "the newer one waits for its time")
            // One at a time is never refused.
            #expect(try await wait(polling).isEmpty)
        }
    }

    @Test("A poll of a stream that is paused or disabled is answered at once", arguments: ["paused", "disabled"])
    func rests(status: String) async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            _ = await receiver.call(.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"\#(status)"}"#)
            let pauses = Pauses()
            #expect(try await wait(pauses.service(of: receiver)).isEmpty && pauses.all.isEmpty)
        }
    }

    @Test func pollThatWaits_isEmptyAfterItsTime() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make()
            let pauses = Pauses()
            #expect(try await wait(pauses.service(of: receiver)).isEmpty)
            #expect(pauses.all.reduce(.zero, +) == .seconds(30))
        }
    }

    @Test func acknowledgementAlone_doesNotWait() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            _ = try await receiver.server.logIn()
            let event = try #require(try await receiver.poll().first)
            let pauses = Pauses()
            let service = pauses.service(of: receiver)
            #expect(try await wait(service, StreamPoll(limit: 0, acknowledged: [event.id])).isEmpty)
            #expect(try await receiver.poll().isEmpty)
            #expect(pauses.all.isEmpty)
        }
    }

    @Test func streamThatIsDeletedMeanwhile_endsThePoll() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make()
            let (server, pauses) = (receiver.server, Pauses())
            let service = pauses.service(of: receiver) { _ in
                _ = await server.admin(.delete, "/admin/v1/event-streams/siem")
            }
            await #expect(throws: ServiceError.self) { try await wait(service) }
            #expect(pauses.all.count == 1)
        }
    }

    @Test func streamThatIsPausedMeanwhile_tellsNothing() async throws {
        try await EventStreamFixture.with { receiver in
            let id = try await receiver.make([SecurityEvent.Kind.sessionEstablished.rawValue])
            let (server, pauses) = (receiver.server, Pauses())
            let service = pauses.service(of: receiver) { number in
                guard number == 1 else { return }
                _ = await receiver.call(.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"paused"}"#)
                _ = try? await server.logIn()
            }
            #expect(try await wait(service).isEmpty)
            _ = await receiver.call(.post, "/ssf/status", #"{"stream_id":"\#(id)","status":"enabled"}"#)
            #expect(try await receiver.poll().count == 1)
        }
    }

    @Test func clientThatDisconnects_endsThePoll() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make()
            let (hasBegun, begin) = AsyncStream.makeStream(of: Void.self)
            let pauses = Pauses()
            let service = pauses.service(of: receiver) { _ in
                begin.yield()
                try? await Task.sleep(for: .seconds(3600))
            }
            let waiting = Task { try await wait(service) }
            for await _ in hasBegun { break }
            waiting.cancel()
            #expect(try await waiting.value.isEmpty && pauses.all.count == 1)
        }
    }

    @Test(arguments: [
        ("", true), ("{}", true), (#"{"returnImmediately":false}"#, true), (#"{"returnImmediately":"true"}"#, true),
        ("{", true), (#"{"returnImmediately":true}"#, false), (#"{"ack":["a"],"returnImmediately":true}"#, false),
        (#"{"maxEvents":0}"#, false), (#"{"maxEvents":1}"#, true),
    ])
    func onlyAPollThatMayWait_countsAsOne(body: String, mayWait: Bool) async throws {
        try await EventStreamFixture.with { receiver in
            let request = Request(.post, "/ssf/poll", fields: [:], body: Array(body.utf8))
            let caller = Caller(remoteAddress: "192.0.2.1", listener: .public)
            switch receiver.server.endpoints.reply(to: request, from: caller) {
            case .streaming(let reply):
                #expect(mayWait && reply.longestWait > Endpoints.pollWait)
            case .later: #expect(!mayWait)
            case .now: Issue.record("it is answered without its caller")
            }
        }
    }
}
