internal import Console
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
        try await consoleForm(call, on: .keys, of: .consoleKeys, needing: .owner, consoleKeysPage)
    }

    private func consoleKeysPage(
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        let keys = try await services.administration.keys()
        return view(stay).keys(keys.signing, keys.admin, notice)
    }
}
