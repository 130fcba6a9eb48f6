import SQLiteStore
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Server

@Suite("Maintenance of the audit trail")
struct StartingMaintenanceEventsTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    private func maintenance(_ application: Application, days: Int) -> Maintenance {
        var cleanUp = ServerConfiguration.CleanUp()
        cleanUp.auditRetentionDays = days
        cleanUp.stepSize = 4
        return Maintenance(context: application.context, logger: .silent, cleanUp: cleanUp)
    }

    private func events(_ application: Application) async throws -> [AuditEvent] {
        try await application.database.store.events(after: 0, limit: 999, userID: nil, sessionID: nil).map(\.event)
    }

    @Test("an event goes when it is as old as the trail is kept, not a second sooner; younger ones stay")
    func retention() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let first = try await events(application).count
        #expect(first > 0)
        let maintenance = maintenance(application, days: 10)
        clock.advance(.seconds(864_000 - 1))
        let young = AuditEvent(.loginFailed, at: clock.wall.now, by: .system)
        try await application.database.store.append([AuditEvent](repeating: young, count: 9))
        #expect(await maintenance.sweepEvents(pause: .zero) == 0)
        clock.advance(.seconds(1))
        #expect(await maintenance.sweepEvents(pause: .zero) == first)
        #expect(try await events(application) == [AuditEvent](repeating: young, count: 9))
        #expect(await maintenance.sweepEvents(pause: .zero) == 0)
        clock.advance(.seconds(864_000 - 2))
        #expect(await maintenance.sweepEvents(pause: .zero) == 0)
        clock.advance(.seconds(1))
        #expect(await maintenance.sweepEvents(pause: .zero) == 9)
        await application.close()
    }

    @Test("with 0 days, every event is kept")
    func keepingAll() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let count = try await events(application).count
        clock.advance(.seconds(86400 * 40_000))
        #expect(await maintenance(application, days: 0).sweepEvents(pause: .zero) == 0)
        #expect(try await events(application).count == count)
        await application.close()
    }

    @Test("the pause between steps bounds the rate")
    func rate() {
        var cleanUp = ServerConfiguration.CleanUp()
        for (rows, step) in [(5000, 256), (10, 1), (1_000_000, 10_000)] {
            (cleanUp.rowsPerSecond, cleanUp.stepSize) = (rows, step)
            #expect(abs(cleanUp.pause / .seconds(1) - Double(step) / Double(rows)) < 1e-9)
        }
    }
}
