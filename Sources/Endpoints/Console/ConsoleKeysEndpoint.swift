internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// Signing keys and admin keys in the console.
extension Endpoints {
    /// `GET /console/keys`: the keys, without their secrets.
    func showConsoleKeys(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleKeysPage(stay, nil).response() }
    }

    /// `POST /console/keys`: makes, deletes, rotates or withdraws a key.
    func changeConsoleKeys(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleKeys, needing: .owner) { stay, form in
            let made = ConsoleView.keyCall(form["act"])
            return try await make(
                SentAct(
                    page: .consoleKeys, making: made?.making, word: { _ in made?.word ?? "again" },
                    show: consoleKeysPage, own: { $0["admin_key"]?.string.map(ConsoleView.newKey) }), form, for: stay)
        }
    }

    private func consoleKeysPage(
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        let keys = try await services.administration.keys()
        return ConsoleView(stay, self).keys(keys.signing, keys.admin, notice)
    }
}
