import Foundation
import SojournClient
import SojournTestKit

/// One random history in virtual time: a phone with two processes on one store, a network with faults, and a server that is
/// switched off, restored from a backup, or asked by both at once. Equal seeds choose equal faults.
struct VirtualSchedule {
    /// A rule that is broken on purpose.
    enum Mutation: Sendable {
        /// The store replaces whatever is stored.
        case swapsBlindly
        /// The server decides requests however long they slept.
        case decidesSleepers
        /// The server refuses an older token although its request was sent before the last child was given out.
        case decidesOvertaken
    }

    /// What went wrong.
    struct Failure: Error, CustomStringConvertible {
        let seed: UInt64
        let what: String
        let history: [String]
        var description: String { "seed \(seed): \(what)\n" + history.joined(separator: "\n") }
    }

    /// What a schedule went through.
    struct Figures {
        var requests = 0
        var faults = 0
        var kills = 0
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let clock = ManualClock()
    private let server: FakeServer
    private let store = SharedStore()
    private var configuration: SojournConfiguration
    private var processes: [VirtualProcess] = []
    private let interval: Int64
    private let faults = Guarded(0)
    private let isFaulty = Guarded(true)
    private let plan: FaultPlan
    private var calls: [Task<Void, Never>] = []
    private let log = Guarded<[String]>([])
    private var history: [String] { log.withLock { $0 } }
    private var backup: FakeServer.Backup?
    private var kills = 0
    private let mutation: Mutation?

    init(seed: UInt64, renewal: SojournConfiguration.Renewal, mutation: Mutation? = nil) {
        self.seed = seed
        self.mutation = mutation
        random = SeededGenerator(seed: seed)
        interval = [8, 10, 30].randomElement(using: &random) ?? 30
        server = FakeServer(
            clock: clock, settings: ServerSettings(rotationInterval: interval, idle: 100_000, refreshAfter: 1))
        configuration = SojournConfiguration(server: server.url)
        configuration.renewal = renewal
        if mutation == .swapsBlindly { store.swapBlindly() }
        if mutation == .decidesSleepers { server.decideSleepers() }
        if mutation == .decidesOvertaken { server.decideOvertaken() }
        let share = Int.random(in: 10...70, using: &random)
        let base = FaultPlan.seed(seed ^ 0xFA17, share: share, delayMax: .seconds(3 * interval))
        plan = FaultPlan { [faults, isFaulty] request in
            guard isFaulty.withLock({ $0 }) else { return .pass }
            let fault = base.fault(for: request)
            if fault != .pass { faults.withLock { $0 += 1 } }
            return fault
        }
    }

    /// Runs the history. Throws if a process was signed out, or if the two do not hold one token that works at the end.
    mutating func run() async throws -> Figures {
        let (log, seed) = (log, seed)
        let watchdog = Task {
            try await Task.sleep(for: .seconds(20))
            let text = "seed \(seed) hangs:\n" + log.withLock { $0 }.joined(separator: "\n") + "\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
        defer { watchdog.cancel() }
        processes = [process(), process()]
        try await signIn()
        for _ in 0..<Int.random(in: 10...30, using: &random) {
            await step()
            try check()
        }
        try await end()
        return Figures(requests: server.requestCount, faults: faults.withLock { $0 }, kills: kills)
    }

    private mutating func process() -> VirtualProcess {
        VirtualProcess(
            configuration, store, FaultyTransport(server, plan: plan, clock: clock), clock, seed: random.next())
    }

    private func failure(_ what: String) -> Failure { Failure(seed: seed, what: what, history: history) }

    private mutating func note(_ what: String) {
        let line = "\(clock.uptime.components.seconds) s: \(what), \(server.requestCount) requests"
        log.withLock { $0.append(line) }
    }

    private mutating func signIn() async throws {
        isFaulty.withLock { $0 = false }
        try await server.createUser("anna", password: "secret")
        let sojourn = processes[0].sojourn
        let login = Task { try await sojourn.signIn(username: "anna", password: "secret") }
        await settle()
        guard (try? await login.value) != nil else { throw failure("the login failed") }
        _ = await processes[1].sojourn.start()
        await settle()
        isFaulty.withLock { $0 = true }
    }

    private mutating func step() async {
        let number = Int.random(in: 0..<2, using: &random)
        switch Int.random(in: 0..<23, using: &random) {
        case 0..<7:
            note("process \(number) asks for a fresh token")
            call(processes[number].sojourn, .fresh)
        case 7, 8:
            note("process \(number) asks for a token")
            call(processes[number].sojourn, .usable)
        case 9:
            note("process \(number) starts")
            start(processes[number].sojourn)
        case 10, 11:
            note("process \(number) is killed")
            kills += 1
            processes[number].kill()
            processes[number] = process()
            start(processes[number].sojourn)
        case 12:
            note("the store fails")
            store.fail(Int.random(in: 1...3, using: &random))
        case 13:
            let isReachable = Bool.random(using: &random)
            note("the server is \(isReachable ? "on" : "off")")
            server.setReachable(isReachable)
        case 14: await restore()
        case 15:
            let wall = clock.wallSeconds + Int64.random(in: -90_000...90_000, using: &random)
            note("the user sets the wall clock")
            clock.setWall(to: wall)
        case 16:
            note("process \(number) asks for a fresh token, and stands still")
            call(processes[number].sojourn, .fresh)
            if Bool.random(using: &random) { await settle() }
            processes[number].freeze()
        case 17, 18:
            note("process \(number) stands still at its next write")
            call(processes[number].sojourn, .fresh)
            processes[number].freezeAtWrite()
        case 19:
            note("process \(number) goes on")
            processes[number].thaw()
        default:
            note("time passes")
            await pass(.milliseconds(Int64.random(in: 0...(interval * 1500), using: &random)))
        }
        await settle()
        // Mostly a moment, and often long enough for the next renewal to be due.
        let pauses: [Int64] = [0, 300, 1500, 2500, 4000, interval * 700]
        let pause = pauses.randomElement(using: &random) ?? 0
        if pause > 0 { await pass(.milliseconds(pause)) }
    }

    /// Backs the server up, or restores it. A restore takes longer than any request lives.
    private mutating func restore() async {
        guard let old = backup else {
            note("a backup")
            backup = server.backup()
            return
        }
        note("the server is restored")
        server.setReachable(false)
        for process in processes { process.thaw() }
        await pass(.seconds(4 * interval + 60))
        server.restore(old)
        server.setReachable(true)
        backup = nil
    }

    private mutating func call(_ sojourn: Sojourn, _ need: Sojourn.Need) {
        calls.append(Task { _ = try? await sojourn.accessToken(need) })
    }

    private mutating func start(_ sojourn: Sojourn) {
        calls.append(Task { await sojourn.start() })
    }

    /// Lets time pass, from one sleeper to the next, so that each wakes at its own time.
    private func pass(_ duration: Duration) async {
        let goal = clock.uptime + duration
        while let wake = clock.untilNextWake, clock.uptime + wake <= goal {
            clock.advance(by: max(wake, .zero))
            await settle()
        }
        clock.advance(by: goal - clock.uptime)
        await settle()
    }

    /// Waits until no task has anything to do but sleep.
    private func settle() async { await OneThread.shared.idle() }

    private func check() throws {
        for process in processes {
            switch process.sojourn.state {
            case .starting, .locked, .storeFailed, .signedIn: break
            case let state: throw failure("the state is \(state)")
            }
        }
    }

    /// The faults are over: both processes hold one token that works.
    private mutating func end() async throws {
        note("the faults are over")
        isFaulty.withLock { $0 = false }
        store.fail(0)
        server.setReachable(true)
        for process in processes { process.thaw() }
        // Every answer and every wait of the history has its time.
        await pass(.seconds(4000))
        try await server.change(ServerSettings(refreshAfter: 3600))
        var tokens: [AccessToken] = []
        for _ in 0..<5 where tokens.count < 2 || tokens[0] != tokens[1] {
            tokens = try await tokensOfBoth()
        }
        guard tokens.count == 2, tokens[0] == tokens[1] else { throw failure("two tokens at the end: \(tokens)") }
        guard try await works(tokens[1]) else { throw failure("the token does not work") }
        for call in calls { await call.value }
    }

    /// The app comes to the foreground, and each process asks for a token.
    private mutating func tokensOfBoth() async throws -> [AccessToken] {
        var tokens: [AccessToken] = []
        for process in processes {
            await process.sojourn.start()
            await pass(.seconds(20))
        }
        for (number, process) in processes.enumerated() {
            let token = Task { try await process.sojourn.accessToken(.fresh) }
            await pass(.seconds(20))
            do { tokens.append(try await token.value) } catch {
                note("process \(number) gets no token: \(error)")
            }
        }
        try check()
        for process in processes {
            guard case .signedIn(_, .current) = process.sojourn.state else { return [] }
        }
        return tokens
    }

    private func works(_ token: AccessToken) async throws -> Bool {
        let key = WorthlessKeys.Key()
        var fields = [HTTPMessageField("Authorization", "\(token.type) \(token.value)")]
        if token.type == "DPoP" {
            let url = server.url.appendingPathComponent("v1/me")
            let proof = try await DPoPProofMaker(key: key).proof(method: "GET", url: url, issuedAt: clock.wallSeconds)
            fields.append(HTTPMessageField("DPoP", proof))
        }
        let request = HTTPMessage(method: "GET", url: server.url.appendingPathComponent("v1/me"), fields: fields)
        return try await server.send(request, within: .seconds(1)).status == 200
    }
}
