import SojournClient

/// What a driver answers to a verb.
struct DriverAnswer: Sendable, CustomStringConvertible {
    let members: [String: JSONValue]

    /// The word of an error; nil if the verb succeeded.
    var error: String? { members.text("error") }
    /// The reason of an end.
    var reason: String? { members.text("reason") }
    /// The access token.
    var token: String? { members.text("token") }
    var state: String? { members.text("state") }
    var status: Int64? { members.integer("status") }

    /// Without tokens.
    var description: String {
        var shown = members
        shown["id"] = nil
        if token != nil { shown["token"] = .string("…") }
        return String(decoding: JSONValue.object(shown).bytes, as: UTF8.self)
    }
}

extension Driver {
    /// Logs a user in, and throws if that fails.
    func login(_ user: String) async throws {
        let answer = try await ask("login", ["username": .string(user), "password": .string(World.password)])
        try require(answer.error == nil && answer.members.text("user") == user, "the login of \(user) fails: \(answer)")
    }

    /// Asks for an access token.
    func token(_ need: Need = .usable) async throws -> DriverAnswer {
        try await ask("token", ["need": .string(need.rawValue)])
    }

    enum Need: String {
        /// Good for an API: renewed if that is due and possible.
        case usable
        /// Renewed if that is due, else an error.
        case fresh
        /// Another one than the stored one, which an API has refused.
        case renewed
    }

    /// An access token, or an error of the scenario.
    func requireToken(_ occasion: String) async throws -> String { try await requireToken(.usable, occasion) }

    func requireToken(_ need: Need, _ occasion: String) async throws -> String {
        let answer = try await token(need)
        guard let token = answer.token else { throw Wrongdoing("\(occasion): no access token: \(answer)") }
        return token
    }

    /// Lets so many seconds pass, by default so many that a renewal is due.
    func elapse(_ seconds: Int64 = World.refreshAfter + 2) async throws {
        try await command("clock", ["elapse": .integer(seconds)])
    }

    /// Sets the wall clock alone, as a user does.
    func moveWall(_ seconds: Int64) async throws { try await command("clock", ["wall": .integer(seconds)]) }

    /// Lets the store fail: `read`, `write` or `none`.
    func failStore(_ what: String) async throws { try await command("store", ["fail": .string(what)]) }

    /// Sends a verb that has no result.
    func command(_ verb: String, _ members: [String: JSONValue]) async throws {
        let answer = try await ask(verb, members)
        try require(answer.error == nil, "the driver does not know \(verb): \(answer)")
    }

    /// Checks that the user is signed in by the driver's state.
    func requireSignedIn(_ occasion: String) async throws {
        let answer = try await ask("state")
        try require(answer.state == "signed-in", "\(occasion): the state is \(answer)")
    }

    /// Checks that nobody is signed in: by the state, and by the error of a call.
    func requireSignedOut(_ occasion: String) async throws {
        let token = try await token()
        try require(token.error == "not-signed-in", "\(occasion): the answer to token is \(token)")
        let answer = try await ask("state")
        try require(answer.state == "signed-out", "\(occasion): the state is \(answer)")
    }
}
