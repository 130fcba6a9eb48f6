internal import HTTP
internal import Sessions

extension Route {
    /// The pages of the admins' console.
    static let console = [
        page(.get, "/console") { try await $0.showConsole($1) },
        page(.get, "/console/enter") { try await $0.showConsoleEntry($1) },
        page(.post, "/console/enter") { try await $0.enterConsole($1) },
        page(.get, "/console/leave") { try await $0.redirectToConsole($1) },
        page(.post, "/console/leave") { try await $0.leaveConsole($1) },
        page(.get, "/console/find") { try await $0.redirectToConsole($1) },
        page(.post, "/console/find") { try await $0.findInConsole($1) },
        page(.get, "/console/users") { try await $0.showConsoleUsers($1) },
        page(.get, "/console/new-user") { try await $0.showConsoleNewUser($1) },
        page(.post, "/console/new-user") { try await $0.createConsoleUser($1) },
        page(.get, "/console/users/{user}") { try await $0.showConsoleUser($1) },
        page(.post, "/console/users/{user}") { try await $0.changeConsoleUser($1) },
        page(.get, "/console/sessions/{session_id}") { try await $0.showConsoleSession($1) },
        page(.post, "/console/sessions/{session_id}") { try await $0.changeConsoleSession($1) },
        page(.get, "/console/logins") { try await $0.showConsoleLogins($1) },
        page(.get, "/console/logins/{login_id}") { try await $0.showConsoleLogin($1) },
        page(.post, "/console/logins/{login_id}") { try await $0.changeConsoleLogin($1) },
        page(.get, "/console/now") { try await $0.showConsoleNow($1) },
        page(.get, "/console/settings") { try await $0.showConsoleSettings($1) },
        page(.post, "/console/settings") { try await $0.changeConsoleSettings($1) },
        page(.get, "/console/clients") { try await $0.showConsoleClients($1) },
        page(.get, "/console/clients/{client_id}") { try await $0.showConsoleClient($1) },
        page(.post, "/console/clients/{client_id}") { try await $0.changeConsoleClient($1) },
        page(.get, "/console/new-client") { try await $0.showConsoleNewClient($1) },
        page(.post, "/console/new-client") { try await $0.createConsoleClient($1) },
        page(.get, "/console/keys") { try await $0.showConsoleKeys($1) },
        page(.post, "/console/keys") { try await $0.changeConsoleKeys($1) },
        page(.get, "/console/deliveries") { try await $0.showConsoleDeliveries($1) },
        page(.post, "/console/deliveries") { try await $0.changeConsoleDeliveries($1) },
        page(.get, "/console/bulk") { try await $0.showConsoleBulk($1) },
        page(.post, "/console/bulk") { try await $0.endConsoleBulk($1) },
        page(.get, "/console/events.csv") { try await $0.exportConsoleEventsAsCSV($1) },
        page(.get, "/console/events.jsonl") { try await $0.exportConsoleEvents($1) },
        page(.get, "/console/events") { try await $0.showConsoleEvents($1) },
        Route(
            .post, "/admin/v1/console-links", on: .admin, .admin(.owner) { try await $0.createConsoleLink($1) }),
    ]

    private static func page(
        _ method: Method, _ pattern: String, _ handle: @escaping @Sendable (Endpoints, Call) async throws -> Response
    ) -> Route {
        Route(method, pattern, on: .admin, errorFormat: .page, .open(handle))
    }
}
