import SojournClient
import SojournTestKit

/// What a driver does for the user at the screen, and for other devices.
extension Driver {
    /// Logs a user in with a mode, and throws if that fails.
    func login(_ user: String, mode: String) async throws {
        let answer = try await ask(
            "login", ["username": .string(user), "password": .string(World.password), "mode": .string(mode)])
        try require(answer.error == nil && answer.members.text("user") == user, "the login of \(user) fails: \(answer)")
    }

    /// How many prompts the process has shown since its start.
    func prompts() async throws -> Int64 {
        let answer = try await ask("presence")
        guard let count = answer.members.integer("prompts") else { throw Wrongdoing("no number of prompts: \(answer)") }
        return count
    }

    /// Checks how many prompts the process has shown since its start.
    func requirePrompts(_ count: Int64, _ occasion: String) async throws {
        let shown = try await prompts()
        try require(shown == count, "\(occasion): \(shown) prompts instead of \(count)")
    }

    /// Sets what the user does at the next prompts. Every further one is confirmed.
    func answers(_ words: String...) async throws {
        try await command("presence", ["answers": .array(words.map { .string($0) })])
    }

    /// Lets the user cancel the prompt of a verb, and checks that the verb fails for that reason.
    func canceling(_ verb: () async throws -> DriverAnswer) async throws {
        let prompts = try await prompts()
        try await answers("canceled")
        let answer = try await verb()
        try require(answer.error == "canceled", "the user cancels: \(answer)")
        try await requirePrompts(prompts + 1, "the user cancels")
    }

    /// Checks that the client waits for the user: by the state, and by a call, which does not prompt. A renewal is due at that call,
    /// because the answer to an earlier one can have set the client's clock.
    func requireLocked(_ occasion: String) async throws {
        let prompts = try await prompts()
        try await elapse(70)
        let token = try await token(.fresh)
        try require(token.error == "presence-required", "\(occasion): the answer to token is \(token)")
        let answer = try await ask("state")
        try require(answer.state == "presence-required", "\(occasion): the state is \(answer)")
        try await requirePrompts(prompts, "\(occasion), at a call for a token")
    }

    /// Makes a passkey for the user.
    func addPasskey() async throws -> String {
        let answer = try await ask("add-passkey")
        guard let id = answer.members.text("passkey") else { throw Wrongdoing("no passkey is made: \(answer)") }
        return id
    }

    /// Asks a phone to let this device in, and returns the text of the picture.
    func askPhone() async throws -> String {
        let answer = try await ask("ask-phone")
        guard let code = answer.members.text("code") else { throw Wrongdoing("no picture for a phone: \(answer)") }
        return code
    }

    /// The number that the device shows, as soon as there is one.
    func number() async throws -> Int {
        var last: DriverAnswer?
        try await eventually("the number for the phone: \(last?.description ?? "no answer")") {
            let answer = try await ask("asked")
            last = answer
            return answer.members.text("phase") == "number"
        }
        guard let number = last?.members.integer("number") else { throw Wrongdoing("no number is shown") }
        return Int(number)
    }

    /// Waits until the phone has let this device in.
    func requireLetIn() async throws {
        try await eventually("the session that the phone has let in", within: 20) {
            let answer = try await ask("asked")
            try require(
                answer.members.text("phase") != "failed", "the phone has agreed, and the login fails: \(answer)")
            return answer.members.text("phase") == "signed-in"
        }
        try await requireSignedIn("after the approval")
    }

    /// Sends an act about another device's login, of which the proxy loses the first answer. A client may leave it to the user to try
    /// again, or ask what came of the act instead.
    func approve(_ verb: String, _ members: [String: JSONValue], in world: World) async throws {
        let count = world.seen(.approval).count
        var answer = try await ask(verb, members)
        if answer.error != nil { answer = try await ask(verb, members) }
        try require(answer.error == nil, "\(verb) after a lost answer: \(answer)")
        let seen = world.seen(.approval).dropFirst(count)
        let keys = Set(seen.map(\.idempotencyKey))
        try require(keys.count == 1 && keys != [nil], "\(verb) was sent with another key, or with none")
    }
}

/// The phone of a user that lets the driver in.
struct ApprovingPhone {
    fileprivate let sojourn: Sojourn

    /// Scans a picture, and agrees to the login.
    ///
    /// - Parameter beforeApproval: carried out before the last step.
    func letIn(_ picture: String, _ driver: Driver, beforeApproval: () -> Void = {}) async throws {
        let login = try await sojourn.startSession(scanned: picture)
        for await status in login.statuses where status.state != .starting { break }
        try await login.confirm(number: try await driver.number())
        beforeApproval()
        try await login.enterSecondFactor(password: World.password)
        try require(login.status.state == .active, "the phone could not approve: \(login.status)")
    }
}

extension World {
    /// A phone on which the user is signed in. From now on the client may ask phones.
    func phone() async throws -> ApprovingPhone {
        let client = JSONValue(parsing: Array(try await server.admin("GET", "clients/mobile")))?.members ?? [:]
        let grant = JSONValue.string(SeenRequest.deviceGrant)
        let grants = (client["grant_types"]?.elements ?? []).filter { $0 != grant } + [grant]
        try await server.changeClient("mobile", ["grant_types": .array(grants)])
        let sojourn = Sojourn(
            SojournConfiguration(server: server.url), store: MemoryStore(), keys: SoftwareKeys.temporary(),
            transport: server.transport)
        try await sojourn.signIn(username: "anna", password: Self.password)
        return ApprovingPhone(sojourn: sojourn)
    }

    /// Checks that `key` signed a login, and signs the renewals of each process of the client since then.
    func requireBound(_ driver: Driver, by key: JSONValue?, _ login: String) async throws {
        try require(key != nil, "\(login) has no proof")
        let answer = try await driver.token()
        try require(answer.members.text("type")?.lowercased() == "dpop", "\(login): the token is not bound: \(answer)")
        await driver.kill()
        let next = try self.driver()
        _ = try await next.requireToken(.renewed, "after a new start")
        try require(renewals.last?.proofKey == key, "\(login): another key signs after a new start")
    }
}
