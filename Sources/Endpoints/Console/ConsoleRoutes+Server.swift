internal import HTTP

// Pages of the console about the server: events, clients, keys, deliveries, settings.
extension Route {
    static let showConsoleNow = page(
        .get, "/console/now",
        Operation(
            "showConsoleNow", .console, "Now",
            """
            Figures of this node over the last hour, and the newest events. Needs a browser in the console, with \
            an admin key of the scope `read`.
            """,
            parameters: ["live"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleNow($1) }

    static let showConsoleSettings = page(
        .get, "/console/settings",
        Operation(
            "showConsoleSettings", .console, "Session settings",
            """
            The session settings, in a form. Needs a browser in the console, with an admin key of the scope \
            `read`.
            """,
            parameters: ["done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleSettings($1) }

    static let changeConsoleSettings = page(
        .post, "/console/settings",
        Operation(
            "changeConsoleSettings", .console, "Change the session settings",
            """
            Says what other settings would do to the sessions of a sample, or changes them. The latter needs the \
            scope `owner`. Needs a browser in the console, with an admin key of the scope `read`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page, after a change, or to `/console/enter`."),
                .valueRefused,
            ])
    ) { try await $0.changeConsoleSettings($1) }

    static let showConsoleClients = page(
        .get, "/console/clients",
        Operation(
            "showConsoleClients", .console, "Clients",
            "The clients. Needs a browser in the console, with an admin key of the scope `read`.",
            parameters: ["done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleClients($1) }

    static let showConsoleClient = page(
        .get, "/console/clients/{client_id}",
        Operation(
            "showConsoleClient", .console, "A client",
            """
            A client with a form, a test of redirect URIs, and code for developers. Needs a browser in the \
            console, with an admin key of the scope `read`.
            """,
            parameters: ["client_id.console", "redirect_uri.console", "done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleClient($1) }

    static let changeConsoleClient = page(
        .post, "/console/clients/{client_id}",
        Operation(
            "changeConsoleClient", .console, "Change a client",
            """
            Shows the call for a change, makes it, makes a new secret, or deletes the client. Needs a browser in \
            the console, with an admin key of the scope `owner`.
            """,
            takes: .form, parameters: ["client_id.console"],
            answers: [
                .page, .redirect("To the page of the client or of all clients, or to `/console/enter`."),
                .valueRefused,
            ])
    ) { try await $0.changeConsoleClient($1) }

    static let showConsoleNewClient = page(
        .get, "/console/new-client",
        Operation(
            "showConsoleNewClient", .console, "A new client",
            """
            A form for a new client, filled in for a kind of app. Needs a browser in the console, with an admin \
            key of the scope `owner`.
            """,
            parameters: ["preset"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleNewClient($1) }

    static let createConsoleClient = page(
        .post, "/console/new-client",
        Operation(
            "createConsoleClient", .console, "Make a client",
            """
            Shows the call, or makes the client. Needs a browser in the console, with an admin key of the scope \
            `owner`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of the client, or to `/console/enter`."),
                .valueRefused,
            ])
    ) { try await $0.createConsoleClient($1) }

    static let showConsoleKeys = page(
        .get, "/console/keys",
        Operation(
            "showConsoleKeys", .console, "Keys",
            """
            Signing keys and admin keys, without their secrets. Needs a browser in the console, with an admin \
            key of the scope `read`.
            """,
            parameters: ["done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleKeys($1) }

    static let changeConsoleKeys = page(
        .post, "/console/keys",
        Operation(
            "changeConsoleKeys", .console, "Change keys",
            """
            Makes, deletes, rotates or withdraws a key. Needs a browser in the console, with an admin key of the \
            scope `owner`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of the keys, or to `/console/enter`."), .valueRefused,
            ])
    ) { try await $0.changeConsoleKeys($1) }

    static let showConsoleDeliveries = page(
        .get, "/console/deliveries",
        Operation(
            "showConsoleDeliveries", .console, "Deliveries",
            """
            Webhooks, receivers of logout tokens and streams of security events, with what waits for them and \
            the last error. Needs a browser in the console, with an admin key of the scope `read`.
            """,
            parameters: ["done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleDeliveries($1) }

    static let changeConsoleDeliveries = page(
        .post, "/console/deliveries",
        Operation(
            "changeConsoleDeliveries", .console, "Try deliveries again, or act on a stream",
            """
            Lets this node try what has failed again at once, sets the status of a stream, or lets it carry a \
            verification event. Needs a browser in the console, with an admin key of the scope `support`; the \
            status of a stream needs `owner`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of the deliveries, or to `/console/enter`."),
                .page(404, "There is no such thing."), .valueRefused,
            ])
    ) { try await $0.changeConsoleDeliveries($1) }

    static let showConsoleBulk = page(
        .get, "/console/bulk",
        Operation(
            "showConsoleBulk", .console, "Sessions of many users",
            """
            The living sessions that match, 50 at most. Needs a browser in the console, with an admin key of the \
            scope `read`.
            """,
            parameters: [
                "client.bulk", "age", "unused", "platform", "version.bulk", "method", "cursor.bulk", "done", "t",
            ],
            answers: [.page, .toEntry])
    ) { try await $0.showConsoleBulk($1) }

    static let endConsoleBulk = page(
        .post, "/console/bulk",
        Operation(
            "endConsoleBulk", .console, "End the sessions of a list",
            """
            Ends the sessions that the form names, 50 at most. Needs a browser in the console, with an admin key \
            of the scope `owner`.
            """,
            takes: .form, answers: [.page, .redirect("To the list, or to `/console/enter`.")])
    ) { try await $0.endConsoleBulk($1) }

    static let exportConsoleEventsAsCSV = page(
        .get, "/console/events.csv",
        Operation(
            "exportConsoleEventsAsCSV", .console, "Events as a table",
            """
            The newest events that match, 10 000 at most, as a table (RFC 4180). A text that a spreadsheet would \
            run has an apostrophe before it. Needs a browser in the console, with an admin key of the scope \
            `read`.
            """,
            parameters: [
                "user.console-events", "session", "client", "device", "request", "actor", "address", "kind", "reason",
                "from", "until", "cursor.file",
            ],
            answers: [.text("text/csv", "A row for each event, after the names of the columns."), .toEntry])
    ) { try await $0.exportConsoleEventsAsCSV($1) }

    static let exportConsoleEvents = page(
        .get, "/console/events.jsonl",
        Operation(
            "exportConsoleEvents", .console, "Events as a file",
            """
            The newest events that match, one JSON object on each line, 10 000 at most. Needs a browser in the \
            console, with an admin key of the scope `read`.
            """,
            parameters: [
                "user.console-events", "session", "client", "device", "request", "actor", "address", "kind", "reason",
                "from", "until", "cursor.file",
            ],
            answers: [
                .text("application/jsonl", "One event on each line, as `GET /admin/v1/events` answers it."), .toEntry,
            ])
    ) { try await $0.exportConsoleEvents($1) }

    static let showConsoleEvents = page(
        .get, "/console/events",
        Operation(
            "showConsoleEvents", .console, "Events",
            """
            The audit trail, newest event first. Needs a browser in the console, with an admin key of the scope \
            `read`.
            """,
            parameters: [
                "user.console-events", "session", "client", "device", "request", "actor", "address", "kind", "reason",
                "from", "until", "cursor.console",
            ],
            answers: [.page, .toEntry])
    ) { try await $0.showConsoleEvents($1) }
}
