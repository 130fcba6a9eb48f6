import Cryptography
import HostileServer
import Locks
import PostgresFixture
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// Pings about logins that a backend has requested (OpenID Connect CIBA section 10.2), against a receiver that this test is.
@Suite("Pings about requested logins", .timeLimit(.minutes(3)))
struct BackchannelPingTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    /// A client with a receiver, a user, and a phone of the user.
    private final class Fixture: Sendable {
        let application: Application
        let clock: StartingClock
        let user: User
        let phone: Session
        let registry = MetricsRegistry()
        let metrics: NoticeMetrics

        init(_ application: Application, _ clock: StartingClock, _ uri: String) async throws {
            (self.application, self.clock) = (application, clock)
            metrics = NoticeMetrics(in: registry)
            user = try await Administration(application.context).createUser(
                username: "anna", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
            let epoch = try await application.context.store.catalogue().settings.epoch
            let phone = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
                device: Device(id: "phone"), startedAt: clock.wall.now, epoch: epoch)
            self.phone = phone
            _ = try await application.context.store.openSession(
                userID: user.id, clientID: Client.mobileID, deviceID: "phone"
            ) { $0.session = phone }
            try await makeClient("shop", uri)
        }

        var context: ServiceContext { application.context }
        var logins: PhoneLoginService { Services(application.context).phoneLogins }

        func makeClient(_ id: String, _ uri: String) async throws {
            _ = try await Administration(context).createClient(id: id, by: .system) { client in
                client.authenticationMethod = .clientSecretBasic
                client.grantTypes = [.backchannel, .refreshToken]
                client.scope = Scope("openid") ?? .empty
                client.backchannel.deliveryMode = .ping
                client.backchannel.notificationEndpoint = uri
                client.page.backchannelLogoutURI = uri
                return nil
            }
        }

        func notices(deadline: Duration = .seconds(5)) -> BackchannelNotices {
            BackchannelNotices(context: context, logger: .silent, metrics: metrics, deadline: deadline)
        }

        /// A requested login, and what its client got for it.
        func request(_ client: String = "shop", token: String? = "token-1") async throws -> (
            id: Identifier<Session>, secret: String
        ) {
            var opening = PhoneLoginService.Opening(.backchannel, clientID: client)
            opening.scope = Scope("openid")
            opening.backchannel = BackchannelRequest(
                to: user.id, scope: opening.scope, sealedToken: token.map(logins.seal(notificationToken:)))
            let opened = try await logins.open(opening, from: .system)
            return (opened.login.id, try #require(opened.secret))
        }

        /// Lets the phone act.
        func act(_ act: PhoneLogin.Act, on id: Identifier<Session>) async throws {
            let now = clock.wall.now
            _ = try await context.store.changeLogin(id, phone: phone.id) { change in
                let call = PhoneLoginAttempt(
                    act, phone: change.phone.map { Phone($0.session) },
                    claimant: change.claimant.map { Phone($0.session) }, drawnNumber: 42)
                let outcome = PhoneLoginPolicy().decide(call, on: change.login, at: now)
                change.login = outcome.login
                return outcome.reply
            }
        }

        func approve(_ id: Identifier<Session>) async throws {
            for act: PhoneLogin.Act in [
                .claim(.pushed, PhoneLogin.Wishes()), .confirm(number: 42),
                .proveFactor(PhoneFactor(isValid: true, number: 42)),
            ] { try await self.act(act, on: id) }
            #expect(try await logins.login(id).state == .approved)
        }

        func collect(_ secret: String) async throws {
            _ = try await logins.collect(
                secret, SessionRequest(clientID: "shop", device: Device(id: "shop-1")),
                prefixes: [PhoneLoginService.backchannelPrefix], from: .system)
        }
    }

    private func stage(
        database: String? = nil, _ body: (Fixture, StatusReceiver) async throws -> Void
    ) async throws {
        var configuration = folder.configuration
        if let database { configuration.database.location = .postgres(url: database) }
        let application = try await Application.open(
            configuration, clock.environment(rootKey: Hex.encode([UInt8](repeating: 3, count: 32))))
        let receiver = StatusReceiver(204)
        try await body(try await Fixture(application, clock, receiver.uri), receiver)
        receiver.server.stop()
        await application.close()
    }

    @Test("an approval and a refusal are told once, with the client's token", arguments: [false, true])
    func delivery(onPostgres: Bool) async throws {
        try await stage(database: onPostgres ? PostgresServer.shared.newDatabase() : nil) { stage, receiver in
            let (first, second) = (try await stage.request(), try await stage.request(token: "abc/+~-._=="))
            await stage.notices().step()
            #expect(receiver.requests.isEmpty)
            try await stage.approve(first.id)
            await stage.notices().step()
            try await stage.act(.claim(.pushed, PhoneLogin.Wishes()), on: second.id)
            try await stage.act(.stop(isReport: false), on: second.id)
            await stage.notices().step()
            await stage.notices().step()
            let requests = receiver.requests
            #expect(requests.count == 2)
            for (request, (login, token)) in zip(requests, [(first, "token-1"), (second, "abc/+~-._==")]) {
                #expect(request.hasPrefix("POST /ping HTTP/1.1\r\n"))
                #expect(request.contains("\r\nAuthorization: Bearer \(token)\r\n"), "\(request)")
                #expect(request.hasSuffix(#"{"auth_req_id":"\#(login.secret)"}"#), "\(request)")
            }
            #expect(stage.metrics.delivered.value == 2 && stage.metrics.failed.value == 0)
            // The client may ask although it is told.
            try await stage.collect(first.secret)
        }
    }

    @Test(
        "the end of a collected session is told by a logout token, however old the login is",
        arguments: ["by an admin", "by the clock"])
    func logoutToken(_ way: String) async throws {
        try await stage { stage, receiver in
            let delivery = ClientDeliveries.logoutTokens(
                context: stage.context, logger: .silent,
                metrics: .logoutTokens(in: stage.registry, clock: clock.wall), node: "a"
            ).delivery(to: "shop")
            let login = try await stage.request(token: nil)
            try await stage.approve(login.id)
            try await stage.collect(login.secret)
            clock.advance(.seconds(9 * 86_400))
            _ = try await stage.context.store.sweepLogins(before: clock.wall.now, limit: 100)
            if way == "by an admin" {
                #expect(try await Services(stage.context).logout.end(login.id, .revokedByAdmin, from: .system))
            } else {
                clock.advance(.seconds(90 * 86_400))
                await Maintenance(context: stage.context, logger: .silent).lookAtSessions(pause: .zero)
            }
            receiver.status.withLock { $0 = 200 }
            while await delivery.step(failures: 0) == .again {}
            #expect(receiver.requests.count == 1 && receiver.requests[0].contains("logout_token="))
            #expect(delivery.metrics.delivered.value == 1)
        }
    }

    @Test("a receiver that is down is asked again, later and later, and two nodes send one ping")
    func downAndUp() async throws {
        try await stage { stage, receiver in
            let login = try await stage.request()
            try await stage.approve(login.id)
            receiver.status.withLock { $0 = 503 }
            let (one, other) = (stage.notices(), stage.notices())
            async let first: Void = one.step()
            async let second: Void = other.step()
            _ = await (first, second)
            #expect(receiver.requests.count == 1)
            clock.advance(.seconds(5))
            await one.step()
            #expect(receiver.requests.count == 1)
            clock.advance(.seconds(1))
            receiver.status.withLock { $0 = 200 }
            await other.step()
            clock.advance(.seconds(60))
            await one.step()
            #expect(receiver.requests.count == 2)
            #expect(stage.metrics.failed.value == 1 && stage.metrics.delivered.value == 1)
            #expect(stage.metrics.lost.value == 0)
        }
    }

    @Test("a login that is collected, too old, or of a client without a receiver is told no more")
    func ends() async throws {
        try await stage { stage, receiver in
            let collected = try await stage.request()
            try await stage.approve(collected.id)
            try await stage.collect(collected.secret)
            let old = try await stage.request()
            try await stage.approve(old.id)
            receiver.status.withLock { $0 = 500 }
            for _ in 0..<12 {
                await stage.notices().step()
                clock.advance(.seconds(60))
            }
            let tries = receiver.requests.count
            #expect((2...BackchannelPing.triesMax).contains(tries))
            receiver.status.withLock { $0 = 200 }
            let left = try await stage.request()
            try await stage.approve(left.id)
            _ = try await Administration(stage.context).changeClient("shop", by: .system) { client in
                client.backchannel = BackchannelRegistration()
                return nil
            }
            await stage.notices().step()
            #expect(receiver.requests.count == tries)
            #expect(try await stage.context.duePings(limit: 10).isEmpty)
        }
    }

    @Test("a receiver that hangs delays no other client, and one that redirects is not followed")
    func slow() async throws {
        let hanging = HostileServer { _ in [.hang] }
        try await stage { stage, receiver in
            try await stage.makeClient("slow", hanging.origin + "/ping")
            let (one, other) = (try await stage.request("slow"), try await stage.request())
            try await stage.approve(one.id)
            try await stage.approve(other.id)
            await stage.notices(deadline: .milliseconds(300)).step()
            #expect(receiver.requests.count == 1 && stage.metrics.failed.value == 1)
            clock.advance(.seconds(6))
            receiver.status.withLock { $0 = 307 }
            let last = try await stage.request()
            try await stage.approve(last.id)
            await stage.notices(deadline: .milliseconds(300)).step()
            #expect(receiver.requests.count == 2 && stage.metrics.delivered.value == 1)
        }
        hanging.stop()
    }

    @Test("the database has neither the token nor the secret in clear, and a client that asks has no ping")
    func atRest() async throws {
        try await stage { stage, _ in
            let login = try await stage.request(token: "a-token-that-is-secret")
            let kept = try await stage.logins.login(login.id)
            let text = String(decoding: kept.request.backchannel?.json ?? [], as: UTF8.self)
            #expect(!text.contains("a-token") && kept.request.backchannel?.sealedToken != nil)
            let silent = try await stage.request(token: nil)
            try await stage.approve(silent.id)
            #expect(try await stage.logins.login(silent.id).pingAt == nil)
            #expect(try await stage.context.duePings(limit: 10).isEmpty)
        }
    }
}

extension StatusReceiver {
    fileprivate var uri: String { server.origin + "/ping" }
    fileprivate var requests: [String] { server.requests }
}
