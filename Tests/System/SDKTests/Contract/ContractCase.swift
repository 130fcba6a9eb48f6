import SojournClient
import SojournTestKit
import Testing

/// One promise of the server on which the SDK relies, checked against the real program and the fake one.
struct ContractCase: Sendable, CustomTestStringConvertible {
    /// The settings of the server that a case needs; cases with equal settings share a server.
    enum World: Hashable, Sendable {
        /// The defaults: W is two minutes.
        case slow
        /// W is one second.
        case quick
        /// W is three seconds.
        case medium
        /// W is one second, and a session ends four seconds after its last refresh.
        case idle
        /// W is two seconds, and a session ends four seconds after its last refresh.
        case idleSlow
        /// Four seconds is the maximum lifetime as well.
        case short
        /// The server sends mails, and strangers make accounts.
        case mailed
        /// A server for this case alone.
        case own(String)

        var settings: ServerSettings {
            switch self {
            case .slow, .mailed, .own: ServerSettings()
            case .quick: ServerSettings(rotationInterval: 1)
            case .medium: ServerSettings(rotationInterval: 3)
            case .idle: ServerSettings(rotationInterval: 1, idle: 4, refreshAfter: 2)
            case .idleSlow: ServerSettings(rotationInterval: 2, idle: 4, refreshAfter: 2)
            case .short: ServerSettings(rotationInterval: 1, idle: 4, maximum: 4, refreshAfter: 2)
            }
        }
    }

    let name: String
    let world: World
    let check: @Sendable (ContractClient, _ user: String) async throws -> Void

    init(
        _ name: String, _ world: World = .slow,
        _ check: @escaping @Sendable (ContractClient, _ user: String) async throws -> Void
    ) {
        (self.name, self.world, self.check) = (name, world, check)
    }

    var testDescription: String { name }

    static let all =
        logins + loginPage + anonymousUsers + rotation + endings + accounts + times + presence + pins + mails
}

/// The servers that the cases share, started when the first case needs them.
actor ContractServers {
    static let shared = ContractServers()
    private var servers: [ContractCase.World: Task<LocalServer, any Error>] = [:]

    func server(_ world: ContractCase.World) async throws -> LocalServer {
        if let task = servers[world] { return try await task.value }
        let task = Task {
            var options = LocalServer.Options()
            options.settings = world.settings
            if world == .mailed {
                options.sendsMails = true
                options.environment = [
                    "SOJOURN_LIMITS_VERIFICATIONS_PER_ADDRESS_PER_MINUTE": "0",
                    "SOJOURN_LIMITS_SIGN_UPS_PER_ADDRESS_PER_HOUR": "0",
                ]
            }
            return try await LocalServer.start(options)
        }
        servers[world] = task
        return try await task.value
    }
}

/// The suite that keeps the fake server what the real one is.
@Suite("The contract of the SDK", .timeLimit(.minutes(2)))
struct ServerContractTests {
    /// The number of the next user, so that cases do not share users.
    private static let userCount = Guarded(0)

    private func run(_ contract: ContractCase, on server: any TestServer) async throws {
        let number = Self.userCount.withLock { count in
            count += 1
            return count
        }
        try await contract.check(ContractClient(server: server), "user-\(number)")
    }

    @Test("the fake server", arguments: ContractCase.all)
    func fake(contract: ContractCase) async throws {
        let server = FakeServer(settings: contract.world.settings)
        server.setMails(contract.world == .mailed)
        try await run(contract, on: server)
    }

    @Test("the real server", arguments: ContractCase.all)
    func real(contract: ContractCase) async throws {
        try await run(contract, on: try await ContractServers.shared.server(contract.world))
    }

    @Test("there are enough cases, each with a name of its own") func names() {
        #expect(ContractCase.all.count >= 40)
        #expect(Set(ContractCase.all.map(\.name)).count == ContractCase.all.count)
    }
}
