import Cryptography
import Sessions
import SQLiteStore
import Telemetry
import Testing

@testable import Configuration
@testable import Server

/// The clock of the machine is set to a wrong time and back again, while the server runs or while it does not. No living
/// session is told that it has ended, no session that has ended lives again, and nothing is deleted.
@Suite("A clock that jumps", .timeLimit(.minutes(2)))
struct ClockJumpTests {
    struct Jump: Sendable, CustomTestStringConvertible {
        let seconds: Int64
        let restarts: Bool
        var testDescription: String { "\(seconds / 3600) hours\(restarts ? ", across restarts" : "")" }
    }

    static let jumps: [Jump] = {
        let hours: [Int64] = [2, 5, 24, 10 * 24, 20 * 24, 60 * 24, 365 * 24, 10 * 365 * 24]
        let seconds: [Int64] = hours.map { $0 * 3600 } + hours.map { $0 * -3600 }
        return seconds.map { Jump(seconds: $0, restarts: false) } + seconds.map { Jump(seconds: $0, restarts: true) }
    }()

    /// A server, with three sessions: one lives, one has ended by the clock an hour ago and was not asked for since, one was
    /// logged out.
    struct World {
        let folder = StartingFolder()
        let clock = StartingClock()
        var application: Application
        var living = ""
        let idled: String
        let loggedOut: String
        let ids: [Identifier<Session>]

        init() async throws {
            application = try await Application.open(folder.configuration, clock.environment())
            let user = try await Administration(application.context).createUser(
                username: "ada", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
            let services = Services(application.context)
            var grants: [TokenGrant] = []
            for device in ["idled", "out", "living"] {
                let login = SessionRequest(clientID: Client.mobileID, device: Device(id: device))
                grants.append(try await services.login.mintSession(login, for: .id(user.id), from: .system))
            }
            idled = grants[0].refreshToken ?? ""
            loggedOut = grants[1].refreshToken ?? ""
            living = grants[2].refreshToken ?? ""
            ids = grants.map(\.session.id)
            clock.advance(SessionSettings.defaults.offlineSessionIdle - .seconds(3600))
            try await refreshLiving()
            try await Administration(application.context).endSession(ids[1], by: .system)
            clock.advance(.seconds(7200))
        }

        var maintenance: Maintenance {
            Maintenance(context: application.context, logger: .silent, clockFile: application.clockFile)
        }

        /// Stops the server, and starts it `again` once that has happened.
        mutating func restart(_ between: () -> Void) async throws {
            maintenance.watchClock()
            await application.close()
            between()
            application = try await Application.open(folder.configuration, clock.environment())
        }

        func refresh(_ token: String) async throws(ServiceError) -> TokenGrant {
            try await Services(application.context).refresh.refresh(
                RefreshAttempt(token: token, clientID: Client.mobileID), from: .system)
        }

        mutating func refreshLiving() async throws(ServiceError) {
            living = try await refresh(living).refreshToken ?? living
        }

        /// The reason for which a token is refused; nil when the server cannot tell at present.
        func refusal(_ token: String) async throws -> RefusalReason? {
            do throws(ServiceError) {
                _ = try await refresh(token)
            } catch {
                switch error {
                case .refused(let reason): return reason
                case .store(.unavailable): return nil
                default: throw error
                }
            }
            throw Granted()
        }
    }

    /// A token was issued that should not have been.
    struct Granted: Error {}

    @Test(arguments: jumps)
    func thereAndBack(_ jump: Jump) async throws {
        var world = try await World()
        let clock = world.clock
        let set = { (seconds: Int64) in clock.jump(.seconds(seconds)) }
        if jump.restarts { try await world.restart { set(jump.seconds) } } else { set(jump.seconds) }
        for _ in 0..<3 {
            // Lives, or the server cannot tell.
            do throws(ServiceError) {
                try await world.refreshLiving()
            } catch {
                guard case .store(.unavailable) = error else { throw error }
            }
            let idled = try await world.refusal(world.idled)
            #expect(idled == nil || idled == .ended(.idleExpired))
            #expect(try await world.refusal(world.loggedOut) == .ended(.revokedByAdmin))
            #expect(await world.maintenance.sweep(pause: .zero) == 0)
            await world.maintenance.maintainKeys()
            clock.advance(.seconds(60))
        }
        if jump.restarts { try await world.restart { set(-jump.seconds) } } else { set(-jump.seconds) }
        // The restarts have taken no time, so that nothing is in doubt.
        try await world.refreshLiving()
        #expect(try await world.refusal(world.idled) == .ended(.idleExpired))
        #expect(try await world.refusal(world.loggedOut) == .ended(.revokedByAdmin))
        for id in world.ids { #expect(try await world.application.context.store.session(id) != nil) }
        await world.application.close()
    }

    @Test("clean-up deletes nothing while a clock that is a year ahead is not found out, for weeks")
    func cleanUp() async throws {
        let world = try await World()
        world.clock.jump(.seconds(365 * 86_400))
        for _ in 0..<25 {
            #expect(await world.maintenance.sweep(pause: .zero) == 0)
            world.clock.advance(.seconds(43_200))
        }
        world.clock.jump(.seconds(-365 * 86_400))
        #expect(await world.maintenance.sweep(pause: .zero) == 0)
        try #require(try await world.application.context.store.session(world.ids[2]) != nil)
        await world.application.close()
    }

    @Test("a jump that stays is believed, and what has ended in between has ended")
    func believed() async throws {
        var world = try await World()
        world.clock.jump(.seconds(20 * 86_400))
        #expect(try await world.refusal(world.living) == nil)
        world.clock.advance(.seconds(20 * 3600))
        #expect(try await world.refusal(world.living) == .ended(.idleExpired))
        // For good.
        let clock = world.clock
        try await world.restart { clock.jump(.seconds(-20 * 86_400)) }
        clock.advance(.seconds(86_400))
        #expect(try await world.refusal(world.living) == .ended(.idleExpired))
        await world.application.close()
    }
}
