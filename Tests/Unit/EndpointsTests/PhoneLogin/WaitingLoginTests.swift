import HTTP
import Locks
import Sessions
import Synchronization
import Testing

@testable import Endpoints
@testable import StoreConformance

/// What requests that wait for a login with a phone cost the database. Time passes only while they wait.
@Suite(.timeLimit(.minutes(1))) struct WaitingLoginTests {
    private static let patience = Duration.seconds(60)

    /// Services in which waits take no time.
    private static func services(of server: EndpointsFixture) -> Services {
        let now = Locked(ContinuousClock.now)
        return Services(
            server.context, now: { now.withLock { $0 } },
            sleep: { duration in
                now.withLock { $0 += duration }
                await Task.yield()
            })
    }

    /// The transactions during `body` that could write.
    private static func transactions(of server: EndpointsFixture, _ body: () async throws -> Void) async throws -> Int {
        let before = server.environment.transactions.load(ordering: .relaxed)
        try await body()
        return server.environment.transactions.load(ordering: .relaxed) - before
    }

    private static func session(_ tokens: Tokens, _ services: Services) async throws -> AuthenticatedSession {
        try await services.accessTokens.authenticate(tokens.access, from: .system)
    }

    /// A claimed login, for which its device and the phone can wait.
    private struct ClaimedLogin {
        let id: Identifier<Session>
        let service: PhoneLoginService
        let session: AuthenticatedSession
        private let proof: PhoneLoginService.DeviceProof
        private let seen: (device: PhoneLogin, phone: PhoneLogin)

        init(_ server: EndpointsFixture, _ phone: Tokens, _ services: Services) async throws {
            let login = try await DeviceLogin(server)
            #expect(await login.scan(phone).status == 200)
            id = try #require(Identifier<Session>(login.id))
            (service, proof) = (services.phoneLogins, .secret(login.secret))
            session = try await WaitingLoginTests.session(phone, services)
            seen = try await (service.look(at: id, as: proof), service.login(id, for: session))
        }

        /// The login as both see it after a change.
        func wait() async throws -> (device: PhoneLogin, phone: PhoneLogin) {
            async let device = service.wait(
                for: id, as: proof, unlike: seen.device.deviceVersion, patience: WaitingLoginTests.patience)
            async let waiting = service.wait(
                for: id, for: session, unlike: seen.phone.phoneVersion, patience: WaitingLoginTests.patience)
            return try await (device, waiting)
        }
    }

    @Test("Two requests that wait for a claimed login write nothing, and do not wake each other")
    func oneLogin() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await ClaimedLogin(server, phone, Self.services(of: server))
            #expect(try await Self.transactions(of: server) { _ = try await login.wait() } == 0)
        }
    }

    @Test("Two phones that wait for the list of a user with a desktop that is logged in write nothing")
    func lists() async throws {
        try await DeviceLogin.with { server, phone in
            _ = try await DeviceLogin.complete(server, phone)
            let other = try await server.logIn(device: "phone-2")
            let services = Self.services(of: server)
            let service = services.phoneLogins
            let userID = try await Self.session(other, services).user.id
            let version = try await service.living(of: userID, unlike: nil, patience: .zero).version
            let count = try await Self.transactions(of: server) {
                async let one = service.living(of: userID, unlike: version, patience: Self.patience)
                async let two = service.living(of: userID, unlike: version, patience: Self.patience)
                _ = try await (one, two)
            }
            #expect(count == 0)
        }
    }

    @Test("A list of three logins costs as many calls of the store as a list of one, for the phone and for admins")
    func longerList() async throws {
        try await DeviceLogin.with { server, phone in
            let store = ObservedStore(server.store)
            let counting = server.over(store)
            var calls: [[ObservedStore.Call]] = []
            for count in 1...3 {
                let login = try await DeviceLogin(server)
                #expect(await login.scan(phone).status == 200)

                store.forget()
                let list = await counting.call(.get, "/v1/me/logins", bearer: phone.access)
                let all = await counting.admin(.get, "/admin/v1/logins")

                #expect(list.items.count == count && all.items.count == count)
                calls.append(store.calls)
            }
            #expect(calls[0] == calls[1] && calls[0] == calls[2], "\(calls)")
        }
    }

    @Test("A login that has timed out is shown as over at once, and is written as over by the clean-up")
    func timeOut() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            #expect(await login.scan(phone).status == 200)
            server.moveClock(to: 180)
            let looks = try await Self.transactions(of: server) {
                #expect(await login.look().string("event") == "timed_out")
                #expect(await login.row().string("cause") == "timed_out")
                #expect(await server.call(.get, "/v1/me/logins", bearer: phone.access).items.isEmpty)
            }
            #expect(looks == 0)
            #expect(await server.admin(.get, "/admin/v1/logins?phase=aborted").items.isEmpty)
            #expect(try await server.endpoints.phoneLogins.sweep() == 1)
            #expect(await server.admin(.get, "/admin/v1/logins?phase=aborted").items.count == 1)
            #expect(try await server.endpoints.phoneLogins.sweep() == 0)
        }
    }

    @Test("A login is written as over by the clean-up, after a look, when its phone's session has ended by time")
    func phoneEndedByTime() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            // The phone's session ends by disuse, and that of the device does not.
            server.moveClock(to: 10 * EndpointsFixture.day)
            #expect(await server.refresh(tokens.refresh).status == 200)
            server.moveClock(to: 14 * EndpointsFixture.day)
            #expect(try await server.endpoints.phoneLogins.sweep() == 0)
            let looks = try await Self.transactions(of: server) {
                #expect(await login.look().string("event") == "logged_out")
            }
            #expect(looks == 0)
            #expect(try await server.endpoints.phoneLogins.sweep() == 1)
            let child = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(child.string("ended_reason") == "parent_ended", "\(child.text)")
        }
    }

    @Test("The change of a login wakes both requests that wait for it")
    func change() async throws {
        try await DeviceLogin.with { server, phone in
            let services = Services(server.context, sleep: { _ in try? await Task.sleep(for: .seconds(3600)) })
            let login = try await ClaimedLogin(server, phone, services)
            async let waiting = login.wait()
            while services.phoneLogins.watch.waitingCount < 2 { await Task.yield() }
            _ = try await login.service.perform(
                .stop(isReport: false), on: login.id, by: login.session, key: nil, from: .system)
            let ends = try await waiting
            #expect(ends.device.cause == .denied && ends.phone.cause == .denied)
        }
    }

    @Test("An act that changes nothing wakes no request")
    func noChange() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            #expect(await login.scan(phone).status == 200)
            let id = try #require(Identifier<Session>(login.id))
            let waits = Locked(0)
            let services = Services(
                server.context,
                sleep: { _ in
                    waits.withLock { $0 += 1 }
                    try? await Task.sleep(for: .seconds(3600))
                })
            let session = try await Self.session(phone, services)
            let service = services.phoneLogins
            let proof = PhoneLoginService.DeviceProof.secret(login.secret)
            let version = try await service.look(at: id, as: proof).deviceVersion
            async let device = service.wait(for: id, as: proof, unlike: version, patience: Self.patience)
            while waits.withLock({ $0 }) == 0 { await Task.yield() }
            // The login awaits the number already.
            _ = try await service.perform(.start, on: id, by: session, key: nil, from: .system)
            for _ in 0..<1000 { await Task.yield() }
            _ = try await service.perform(.stop(isReport: false), on: id, by: session, key: nil, from: .system)
            #expect(try await device.cause == .denied)
            #expect(waits.withLock { $0 } == 1)
        }
    }
}
