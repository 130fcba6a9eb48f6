internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// Signing keys and admin keys in the console.
extension Endpoints {
    /// `GET /console/keys`: the keys, without their secrets.
    func showConsoleKeys(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleKeysPage(stay).response() }
    }

    /// `POST /console/keys`: makes, deletes, rotates or withdraws a key.
    func changeConsoleKeys(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleKeys, needing: .owner) { stay, form in
            guard let made = ConsoleView.keyCall(form) else {
                return Self.redirect(to: stay.path(.consoleKeys, saying: "again"))
            }
            switch try await attempt(made.call, for: stay) {
            case .failure(let refusal):
                return try await consoleKeysPage(stay, (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
            case .success(let answer):
                // The secret is on this page alone, and never in a URL.
                if let secret = answer["admin_key"]?.string {
                    return try await consoleKeysPage(stay, ConsoleView.newKey(secret)).response()
                }
                return Self.redirect(to: stay.path(.consoleKeys, saying: made.word))
            }
        }
    }

    private func consoleKeysPage(
        _ stay: ConsoleStay, _ notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) async throws -> ConsolePage {
        await services.signer.lookForKeys()
        let keys = try await services.administration.adminKeys()
        return ConsoleView(stay, self).keys(services.administration.signingKeys(), keys, notice)
    }
}
