import Foundation
import SojournClient
import SojournTestKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The apps of one phone, one in each folder, and the commands that they obey.
actor Phone {
    /// An app with a session of its own.
    struct App {
        let folder: URL
        let sojourn: Sojourn
        let store: FileStore
        let gate: FolderGate
        let passkeys: ScreenPasskeys
        /// Whether this process has logged the user in.
        var hasLoggedIn = false
    }

    private let folder: URL
    private let configuration: SojournConfiguration
    /// What the app does wrong on purpose.
    let broken: Break?
    let screen = Screen()
    private let points = Points()
    private let clock = PhoneClock()
    private let failures = StoreFailures()
    private let log: Log
    /// The login of another device that was scanned last.
    var login: LoginSession?
    private var apps: [String: App] = [:]

    init(folder: URL, configuration: SojournConfiguration, log: Log, broken: Break?) {
        let screen = screen
        var configuration = configuration
        if broken != .backgroundPrompts { configuration.readyForUser = { screen.isInFront } }
        (self.folder, self.configuration, self.log, self.broken) = (folder, configuration, log, broken)
    }

    private func app(_ name: String) -> App {
        if let app = apps[name] { return app }
        let place = name.isEmpty ? folder : folder.appendingPathComponent(name)
        let store = FileStore(directory: place, observe: { [points] step in points.pass(step) })
        // One transport each, because a `URLSession` opens few connections to one server.
        let network = BreakingTransport(base: URLSessionTransport(clock: clock), broken: broken)
        let gate = FolderGate(folder: place, screen: screen)
        let sojourn = Sojourn(
            configuration, store: FailingStore(base: store, failures: failures), keys: SoftwareKeys(directory: place),
            gate: gate, transport: PointTransport(base: network, points: points), clock: clock, log: log)
        // The origin of an app on Apple's platforms is the relying party itself.
        let passkeys = ScreenPasskeys(base: SoftwarePasskeys(origin: "https://localhost"), screen: screen)
        let app = App(folder: place, sojourn: sojourn, store: store, gate: gate, passkeys: passkeys)
        apps[name] = app
        return app
    }

    /// Carries out a command, and returns the members of the answer.
    func carryOut(_ command: [String: JSONValue]) async -> [String: JSONValue] {
        // The clock can be wrong already when the app starts.
        if command.text("do") == "clock" {
            clock.moveWall(by: command.integer("wall") ?? 0)
            clock.elapse(command.integer("elapse") ?? 0)
            return [:]
        }
        let name = command.text("in") ?? ""
        let answer = await carryOut(command, app(name))
        if command.text("do") == "login" { apps[name]?.hasLoggedIn = true }
        return await breakRule(after: command, app(name), answer)
    }

    /// Carries out a command of an app.
    func carryOut(_ command: [String: JSONValue], _ app: App) async -> [String: JSONValue] {
        let (sojourn, store) = (app.sojourn, app.store)
        do {
            switch command.text("do") ?? "" {
            case "start":
                await sojourn.start()
                return Self.describe(sojourn.state)
            case "state": return Self.describe(sojourn.state)
            case "login":
                let account = try await sojourn.signIn(
                    username: command.text("username") ?? "", password: command.text("password") ?? "",
                    mode: Self.mode(command))
                return ["user": .string(account.username ?? account.userID)]
            case "login-anonymously":
                let account = try await sojourn.signInAnonymously()
                return ["user": .string(account.userID), "anonymous": .bool(account.isAnonymous)]
            case "name":
                let account = try await sojourn.nameAccount(
                    username: command.text("username") ?? "", password: command.text("password") ?? "")
                return ["user": .string(account.username ?? account.userID)]
            case "begin-login":
                guard
                    let page = command.text("redirect").flatMap({ URL(string: $0) }).map({ LoginPage(redirectURI: $0) })
                else { return ["error": .string("no URL")] }
                return ["url": .string(try await sojourn.beginSignIn(page).absoluteString)]
            case "finish-login":
                guard let url = command.text("callback").flatMap({ URL(string: $0) }) else {
                    return ["error": .string("no URL")]
                }
                let account = try await sojourn.signIn(callback: url)
                return ["user": .string(account.username ?? account.userID)]
            case "adopt":
                let account = try await sojourn.adopt(tokenAnswer: Data((command.text("answer") ?? "").utf8))
                return ["user": .string(account.username ?? account.userID)]
            case "identity":
                let identity = try await sojourn.deviceIdentity()
                var members = ["device_id": JSONValue.string(identity.deviceID)]
                members.set("key_thumbprint", identity.keyThumbprint)
                return members
            case "token": return try await token(sojourn, command.text("need") ?? "usable")
            case "call": return try await call(sojourn, command.text("url") ?? "")
            case "logout": return ["written": .bool(await sojourn.signOut())]
            case "store":
                guard let failure = command.text("fail").flatMap(StoreFailures.Failure.init) else {
                    return ["error": .string("no such failure")]
                }
                failures.set(failure)
                return [:]
            case "freeze", "crash":
                guard let stop = command.text("do").flatMap(Stop.init),
                    let point = command.text("at").flatMap(Point.init)
                else { return ["error": .string("no such point")] }
                points.arm(point, stop)
                return [:]
            case "swap": return ["won": .integer(try await swap(store, count: command.integer("count") ?? 1))]
            case let name:
                if let answer = try await carryOutForUser(command, app) { return answer }
                return try await carryOutLogin(command, sojourn) ?? ["error": .string("no command \(name)")]
            }
        } catch let error as SojournError {
            return Self.describe(error)
        } catch { return ["error": .string("\(error)")] }
    }

    private func token(_ sojourn: Sojourn, _ need: String) async throws -> [String: JSONValue] {
        let token =
            switch need {
            case "fresh": try await sojourn.accessToken(.fresh)
            case "renewed":
                try await sojourn.accessToken(.renewed(after: try await sojourn.accessToken()))
            default: try await sojourn.accessToken()
            }
        return ["token": .string(token.value), "type": .string(token.type), "expires_at": .integer(token.expiresAt)]
    }

    private func call(_ sojourn: Sojourn, _ text: String) async throws -> [String: JSONValue] {
        guard let url = URL(string: text) else { return ["error": .string("no URL")] }
        let (data, response) = try await sojourn.data(for: URLRequest(url: url))
        return ["status": .integer(Int64(response.statusCode)), "body": .string(String(decoding: data, as: UTF8.self))]
    }

    /// Tries so often to add one to a number in the record, and returns how often that succeeded.
    private func swap(_ store: FileStore, count: Int64) async throws -> Int64 {
        var won: Int64 = 0
        for _ in 0..<count {
            guard let stored = try await store.load(), var members = JSONValue(parsing: stored.bytes)?.members else {
                continue
            }
            members["swaps"] = .integer((members.integer("swaps") ?? 0) + 1)
            if try await store.replace(stored.version, with: JSONValue.object(members).bytes) { won += 1 }
        }
        return won
    }
}
