import Foundation
import Glibc
import Repository
import SojournClient
import SojournTestKit
import Testing

/// A phone that is killed, or stands still, at a point of a renewal.
@Suite("A phone that is stopped at a point", .timeLimit(.minutes(30)))
struct KilledPhoneTests {
    private static let points = [
        "before-send", "sent", "received", "locked", "temp-written", "temp-synced", "renamed", "folder-synced",
    ]
    /// Kills at each point.
    private static let kills = Lane.rounds(push: 4, full: 200)

    /// A server that rotates at every renewal, because the rotation interval is zero, and a proxy that holds answers back for a
    /// moment, so that a request can be under way.
    private static func world() async throws -> (server: LocalServer, proxy: FaultProxy) {
        let proxy = try FaultProxy()
        var options = LocalServer.Options()
        options.issuer = proxy.url
        options.settings = ServerSettings(rotationInterval: 0, refreshAfter: 0)
        let server = try await LocalServer.start(options)
        proxy.target = server.directURL
        return (server, proxy)
    }

    /// Begins a session in a folder.
    private static func begin(
        _ server: LocalServer, _ proxy: FaultProxy, _ folder: PhoneFolder, _ renewal: String
    ) async throws {
        try await server.createUser("anna", password: "correct horse battery")
        let phone = try PhoneProcess(folder.path, server: proxy.url, renewal: renewal)
        let answer = try await phone.ask(
            "login", ["username": .string("anna"), "password": .string("correct horse battery")])
        #expect(answer.text("user") == "anna")
    }

    @Test("after kill -9 the next start goes on", arguments: ["refresh-token", "bound"])
    func kills(renewal: String) async throws {
        let (server, proxy) = try await Self.world()
        let folder = try PhoneFolder()
        try await Self.begin(server, proxy, folder, renewal)
        var serials: Set<String> = []
        for _ in 0..<Self.kills {
            for point in Self.points {
                proxy.plan = point == "sent" ? FaultPlan { _ in .delayAnswer(.milliseconds(150)) } : .none
                let victim = try PhoneProcess(folder.path, server: proxy.url, renewal: renewal)
                try await victim.arm("crash", at: point)
                _ = try? await victim.ask("start")
                // A renewal that got no answer in time has not come to a later point: the next one does.
                var tries = 0
                while tries < 10, (try? await victim.ask("token", ["need": .string("renewed")])) != nil { tries += 1 }
                if tries == 10 { victim.signal(SIGTERM) }
                #expect(await victim.waitForEnd() == -SIGKILL, "\(point)")

                proxy.plan = .none
                let next = try PhoneProcess(folder.path, server: proxy.url, renewal: renewal)
                #expect(try await next.ask("start").word == "signed-in", "\(point)")
                let token = try await next.ask("token", ["need": .string("renewed")])
                #expect(token.word == "token", "\(point): \(token)")
                #expect(try await next.ask("state").text("reachability") == "current", "\(point)")
                serials.insert(token.text("token") ?? "")
            }
        }
        #expect(serials.count == Self.kills * Self.points.count)
        print("kills: \(Self.kills * Self.points.count) \(renewal), at \(Self.points.count) points")
    }

    @Test("a phone that stands still holds up no other", arguments: ["before-send", "sent", "received"])
    func freezes(point: String) async throws {
        let (server, proxy) = try await Self.world()
        let folder = try PhoneFolder()
        try await Self.begin(server, proxy, folder, "bound")
        if point == "sent" { proxy.plan = .script([.delayAnswer(.milliseconds(150))]) }
        let frozen = try PhoneProcess(folder.path, server: proxy.url, renewal: "bound")
        try await frozen.arm("freeze", at: point)
        let start = Task { try? await frozen.ask("start") }
        try await frozen.waitForStop()

        let other = try PhoneProcess(folder.path, server: proxy.url, renewal: "bound")
        let begin = ContinuousClock.now
        // A third one within ten seconds would be refused.
        for _ in 0..<2 {
            #expect(try await other.ask("token", ["need": .string("renewed")]).word == "token")
            #expect(try await other.ask("start").word == "signed-in")
        }
        #expect(ContinuousClock.now - begin < .seconds(5))

        frozen.signal(SIGCONT)
        #expect(await start.value?.word == "signed-in")
        #expect(try await frozen.ask("token", ["need": .string("renewed")]).word == "token")
        #expect(try await frozen.ask("state").word == "signed-in")
        #expect(try await other.ask("state").word == "signed-in")
    }

    @Test("two processes swap one file: each swap has one winner")
    func swaps() async throws {
        let (server, proxy) = try await Self.world()
        let folder = try PhoneFolder()
        try await Self.begin(server, proxy, folder, "refresh-token")
        let count: Int64 = Int64(Lane.rounds(push: 1000, full: 5000))
        let phones = try (0..<2).map { _ in try PhoneProcess(folder.path, server: proxy.url) }
        async let first = phones[0].ask("swap", ["count": .integer(count)])
        async let second = phones[1].ask("swap", ["count": .integer(count)])
        let won = try await (first.integer("won") ?? 0, second.integer("won") ?? 0)
        let record = try Data(contentsOf: folder.url(FileStore.fileName))
        let total = JSONValue(parsing: Array(record))?.members?.integer("swaps")
        #expect(total == won.0 + won.1)
        #expect(won.0 > 0 && won.1 > 0)
        print("swaps: \(2 * count) tried, \(won.0) and \(won.1) won")
    }
}
