import Foundation
import Repository
import SojournClient
import SojournTestKit
import Testing

/// Random histories of two processes of one phone over real HTTP: the built server, a proxy with faults, and two programs on one
/// store. Many phones live at the same time, because each waits most of the time.
@Suite("Schedules over HTTP", .timeLimit(.minutes(600)))
struct HTTPScheduleTests {
    /// How many schedules run: `SOJOURN_SDK_SCHEDULES`, if it is set.
    private static let count =
        ProcessInfo.processInfo.environment["SOJOURN_SDK_SCHEDULES"].flatMap { Int($0) }
        ?? Lane.rounds(push: 60, full: 1000)
    /// How many run at the same time.
    private static let width = 100

    @Test(
        "no history signs the user out, and both processes hold one token at the end",
        arguments: ["refresh-token", "bound"])
    func nothingSignsOut(renewal: String) async throws {
        // Half of them each.
        let count = max(1, Self.count / 2)
        var first = 0
        var requests = (all: 0, faulty: 0)
        while first < count {
            let world = try await HTTPScheduleWorld(renewal: renewal)
            try await world.run(first..<min(first + Self.width, count))
            requests.all += world.proxy.requestCount
            requests.faulty += world.proxy.faultCount
            first += Self.width
        }
        #expect(requests.faulty > count)
        print("HTTP schedules: \(count) \(renewal), \(requests.all) requests, \(requests.faulty) faults")
    }
}

/// A server that is killed now and then, a proxy, and two programs that host the phones.
final class HTTPScheduleWorld: Sendable {
    /// What went wrong in the schedule of a seed.
    struct Failure: Error, CustomStringConvertible {
        let seed: Int
        let what: String
        var description: String { "seed \(seed): \(what)" }
    }

    /// The least W in which the requests of two processes fit, with a second of rounding for each.
    private static let interval: Int64 = 8
    private static let length: Duration = .seconds(16)

    let server: LocalServer
    let proxy: FaultProxy
    private let programs: [PhoneProcess]
    private let folder: PhoneFolder
    private let renewal: String
    /// The faults of each phone, by its device ID.
    private let plans = Guarded<[String: FaultPlan]>([:])

    init(renewal: String) async throws {
        self.renewal = renewal
        let proxy = try FaultProxy()
        var options = LocalServer.Options()
        options.issuer = proxy.url
        options.settings = ServerSettings(rotationInterval: Self.interval, refreshAfter: 1)
        server = try await LocalServer.start(options)
        proxy.target = server.directURL
        self.proxy = proxy
        folder = try PhoneFolder()
        let path = folder.path
        programs = try (0..<2).map { _ in
            try PhoneProcess(path, server: proxy.url, renewal: renewal, device: nil)
        }
    }

    /// Runs the schedules of some seeds at the same time.
    func run(_ seeds: Range<Int>) async throws {
        for seed in seeds { try await begin(seed) }
        proxy.plan = FaultPlan { [plans] request in
            let body = String(decoding: request.body, as: UTF8.self)
            let plan = plans.withLock { plans in
                body.split(separator: "&").first { $0.hasPrefix("device_id=") }
                    .flatMap { plans[String($0.dropFirst("device_id=".count))] }
            }
            return plan?.fault(for: request) ?? .pass
        }
        let killer = Task { [server] in
            for _ in 0..<2 {
                try await Task.sleep(for: .seconds(5))
                try await server.kill()
                try await Task.sleep(for: .milliseconds(300))
                try await server.restart()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for seed in seeds { group.addTask { await self.live(seed) } }
        }
        try await killer.value
        proxy.plan = .none
        // Requests that are still under way come in, and nothing is due any more once both have renewed.
        try await Task.sleep(for: .seconds(Self.interval / 2))
        try await server.change(ServerSettings(refreshAfter: 3600))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in seeds { group.addTask { try await self.end(seed) } }
            try await group.waitForAll()
        }
    }

    private func name(_ seed: Int) -> String { "phone-\(seed)" }

    /// Opens a session as a backend does, which costs no hashing of passwords.
    private func begin(_ seed: Int) async throws {
        let name = name(seed)
        let identity = try await programs[0].ask("identity", in: name)
        let device = identity.text("device_id") ?? ""
        try await server.createUser(name)
        var members: [String: JSONValue] = ["device": .object(["id": .string(device)])]
        members.set("dpop_jkt", identity.text("key_thumbprint"))
        let answer = try await server.admin("POST", "users/username:\(name)/sessions", members)
        let adopted = try await programs[0].ask(
            "adopt", in: name, ["answer": .string(String(decoding: answer, as: UTF8.self))])
        guard adopted.text("user") == name else { throw Failure(seed: seed, what: "no session: \(adopted)") }
        let plan = FaultPlan.seed(UInt64(seed) ^ 0xFA17, share: 40, delayMax: .seconds(Self.interval))
        plans.withLock { $0[device] = plan }
    }

    /// Asks now one process for a token, now the other, without waiting for the answers.
    private func live(_ seed: Int) async {
        var random = SeededGenerator(seed: UInt64(seed))
        let name = name(seed)
        let deadline = ContinuousClock.now + Self.length
        await withTaskGroup(of: Void.self) { group in
            while ContinuousClock.now < deadline {
                let program = programs[Int.random(in: 0..<2, using: &random)]
                let need = Int.random(in: 0..<5, using: &random) == 0 ? "usable" : "fresh"
                let verb = Int.random(in: 0..<3, using: &random) == 0 ? "start" : "token"
                group.addTask { _ = try? await program.ask(verb, in: name, ["need": .string(need)]) }
                let pause = Int.random(in: 0...1200, using: &random)
                try? await Task.sleep(for: .milliseconds(pause))
            }
        }
    }

    /// Both processes hold one token, and it works.
    private func end(_ seed: Int) async throws {
        let name = name(seed)
        var tokens: [String] = []
        var words: [String] = []
        for _ in 0..<12 where tokens.count < 2 || tokens[0] != tokens[1] {
            tokens = []
            for program in programs {
                let state = try await program.ask("start", in: name)
                guard state.word == "signed-in" else { throw Failure(seed: seed, what: "\(state)") }
                try await Task.sleep(for: .milliseconds(500))
                let token = try await program.ask("token", in: name, ["need": .string("fresh")])
                words.append(token.word)
                if token.word == "ended" { throw Failure(seed: seed, what: "\(token)") }
                if let text = token.text("token") { tokens.append(text) }
            }
            // What `start` renews in the background has come.
            try await Task.sleep(for: .milliseconds(1200))
            tokens = []
            for program in programs {
                if let text = try await program.ask("token", in: name).text("token") { tokens.append(text) }
            }
        }
        guard tokens.count == 2, tokens[0] == tokens[1] else {
            throw Failure(seed: seed, what: "two tokens at the end: \(words)")
        }
        let url = JSONValue.string(proxy.url.appendingPathComponent("v1/me").absoluteString)
        for program in programs {
            let answer = try await program.ask("call", in: name, ["url": url])
            guard answer.integer("status") == 200 else { throw Failure(seed: seed, what: "no use: \(answer)") }
        }
    }
}
