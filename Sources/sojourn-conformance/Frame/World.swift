import Foundation
import SojournClient
import SojournTestKit

/// A server behind a proxy, and a folder for the client. Each scenario has a world of its own.
final class World: Sendable {
    /// The age in seconds at which an access token is due.
    static let refreshAfter: Int64 = 10
    static let password = "correct horse battery"

    private struct Plan {
        var script: ArraySlice<Fault> = []
        var rest = Fault.pass
    }

    private struct State {
        var plans: [SeenRequest.Kind: Plan] = [:]
        var seen: [SeenRequest] = []
        var gates: [Gate] = []
        var drivers: [Driver] = []
    }

    let server: LocalServer
    let proxy: FaultProxy
    private let folder: URL
    /// The folder of the client.
    private var place: URL { folder.appendingPathComponent("app") }
    private let command: [String]
    private let renewal: Scenario.Renewal
    private let capabilities: Capabilities
    private let state: Guarded<State>

    init(_ scenario: Scenario, command: [String], _ capabilities: Capabilities) async throws {
        (self.command, renewal, self.capabilities) = (command, scenario.renewal, capabilities)
        let name = "conformance-\(scenario.name)-\(UUID().uuidString.prefix(8))"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        state = Guarded(State())
        let state = state
        proxy = try FaultProxy(
            plan: FaultPlan { request in
                let seen = SeenRequest(request)
                return state.withLock { state in
                    state.seen.append(seen)
                    let rest = state.plans[seen.kind]?.rest ?? .pass
                    let fault = state.plans[seen.kind]?.script.popFirst() ?? rest
                    return CrossOrigin.fault(fault, for: seen)
                }
            })
        var options = LocalServer.Options()
        options.issuer = proxy.url
        options.settings = scenario.settings
        options.environment = scenario.environment
        if scenario.needs.contains(.passkeys) {
            let origins = ["https://localhost"] + (capabilities.origin.map { [$0] } ?? [])
            options.environment["SOJOURN_PASSKEYS_RP_ID"] = "localhost"
            options.environment["SOJOURN_PASSKEYS_ORIGINS"] = origins.joined(separator: ",")
        }
        server = try await LocalServer.start(options)
        proxy.target = server.directURL
        if let origin = capabilities.origin {
            try await server.changeClient("mobile", ["allowed_origins": .array([.string(origin)])])
        }
        try await createUser("anna")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Ends the drivers, and lets go what the proxy holds.
    func close() {
        let (gates, drivers) = state.withLock { state in
            defer { (state.gates, state.drivers) = ([], []) }
            return (state.gates, state.drivers)
        }
        for driver in drivers { driver.signal(SIGKILL) }
        for gate in gates { gate.open() }
        proxy.stop()
    }

    // MARK: The client

    /// Starts a process of the client. All processes of a world have one store.
    func driver() throws -> Driver {
        let words =
            command + [
                place.path, "--server", proxy.url.absoluteString, "--renewal",
                renewal.rawValue,
            ]
        let driver = try Driver(words, errors: folder.appendingPathComponent("errors").path)
        state.withLock { $0.drivers.append(driver) }
        return driver
    }

    /// Starts a process, and logs the user in.
    func signedIn() async throws -> Driver {
        let driver = try driver()
        try await driver.login("anna")
        return driver
    }

    private func paths() throws -> [URL] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.path)
        return names.map(place.appendingPathComponent).filter { !$0.hasDirectoryPath }
    }

    /// Overwrites everything that the client has stored, while no process of it runs.
    func replaceFiles(by text: String) async throws {
        guard capabilities.lacks.contains(.files) else {
            for path in try paths() { try Data(text.utf8).write(to: path) }
            return
        }
        let driver = try driver()
        try await driver.command("spoil", ["text": .string(text)])
        await driver.kill()
    }

    /// The contents of what the client has stored, by the paths of their files.
    ///
    /// - Parameter driver: a process that tells them if the client has no files.
    func files(_ driver: Driver) async throws -> [String] {
        guard capabilities.lacks.contains(.files) else {
            return try paths().sorted { $0.path < $1.path }.map {
                String(decoding: try Data(contentsOf: $0), as: UTF8.self)
            }
        }
        let answer = try await driver.ask("stored")
        guard let texts = answer.members["files"]?.elements else { throw Wrongdoing("no files: \(answer)") }
        return texts.compactMap(\.text)
    }

    /// What all drivers wrote on standard error.
    var errors: String {
        let data = try? Data(contentsOf: folder.appendingPathComponent("errors"))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// The last lines of it, for a report.
    var lastWords: String {
        errors.split(separator: "\n").suffix(3).map { "\n       | \($0.prefix(300))" }.joined()
    }

    // MARK: The network

    /// What happens to requests of a kind: the faults of the script, one for each, then `rest`.
    func plan(
        _ kind: SeenRequest.Kind, _ script: [Fault] = [], then rest: Fault = .pass
    ) {
        state.withLock { $0.plans[kind] = Plan(script: script[...], rest: rest) }
    }

    /// A gate that opens at the end of the scenario at the latest.
    func gate() -> Gate {
        let gate = Gate()
        state.withLock { $0.gates.append(gate) }
        return gate
    }

    /// The requests that have come.
    func seen(_ kind: SeenRequest.Kind) -> [SeenRequest] {
        state.withLock { state in state.seen.filter { $0.kind == kind } }
    }

    var renewals: [SeenRequest] { seen(.renewal) }

    /// How many requests have come.
    var count: Int { state.withLock { $0.seen.count } }

    /// Waits until so many requests of a kind have come since the start, and returns them.
    @discardableResult
    func wait(for count: Int, _ kind: SeenRequest.Kind, upTo seconds: Double = 10) async throws -> [SeenRequest] {
        try await eventually("request \(count) of the kind \(kind)", within: seconds) {
            seen(kind).count >= count
        }
        return seen(kind)
    }

    // MARK: The server

    /// Creates a user. A server on a busy machine may ask to be asked again, and that is no fault of the client.
    func createUser(_ name: String) async throws {
        try await eventually("a server that creates users", within: 60) {
            do {
                try await server.createUser(name, password: Self.password)
                return true
            } catch let refusal as AdminRefusal where refusal.status == 503 { return false }
        }
    }

    /// The IDs of the user's sessions that have not ended.
    func sessions(of user: String) async throws -> [String] {
        let answer = try await server.admin("GET", "users/username:\(user)/sessions")
        let items = JSONValue(parsing: Array(answer))?.members?["items"]?.elements ?? []
        return items.compactMap(\.members).filter { $0["ended"] == nil && $0["ended_at"] == nil }
            .compactMap { $0.text("session_id") }
    }
}
