internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The clients in the console.
extension Endpoints {
    /// `GET /console/clients`: the clients.
    func showConsoleClients(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            ConsoleView(stay, self).clients(try await services.administration.clients()).response()
        }
    }

    /// `GET /console/clients/{client_id}?redirect_uri=`: a client, with a form, a test of redirect URIs, and code for apps.
    func showConsoleClient(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let client = try await services.administration.client(call.parameter)
            return ConsoleView(stay, self).client(client, Self.form(of: client)).response()
        }
    }

    /// `POST /console/clients/{client_id}`: shows the call for a change, makes it, makes a new secret, or deletes the client.
    func changeConsoleClient(_ call: Call) async throws -> Response {
        let page = PagePath.consoleClients.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .owner) { stay, parameters in
            let client = try await services.administration.client(call.parameter)
            let path = "/clients/\(PercentEncoding.encode(client.id))"
            let view = ConsoleView(stay, self)
            switch parameters["act"] {
            case "delete":
                _ = try await run(ConsoleCall(method: .delete, path: path), for: stay)
                return Self.redirect(to: stay.path(.consoleClients, saying: "deleted"))
            case "rotate-secret":
                return try await newSecret(of: client, parameters, stay)
            default: break
            }
            let form = ClientForm(parameters)
            func refused(_ refusal: ConsoleRefusal) -> Response {
                view.client(client, form, notice: (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
            }
            let changes: [String: JSONValue]
            do throws(ConsoleRefusal) { changes = try form.changes(from: Self.form(of: client)) } catch {
                return refused(error)
            }
            let made = ConsoleCall(method: .patch, path: path, body: changes)
            if FormMark(ClientForm.members(of: client)).isOlder(in: parameters) {
                return view.client(client, Self.form(of: client), notice: FormMark.notice).response(.conflict)
            }
            if parameters["act"] == "preview" { return view.client(client, form, preview: made).response() }
            switch try await attempt(made, for: stay) {
            case .failure(let refusal): return refused(refusal)
            case .success(let answer):
                guard let secret = answer["client_secret"]?.string else {
                    return Self.redirect(to: stay.path(page, saying: "changed"))
                }
                return view.client(client, form, notice: ConsoleView.newSecret(secret)).response()
            }
        }
    }

    /// Makes a new secret. The old one is accepted for the time that the form gives it.
    private func newSecret(
        of client: Client, _ parameters: FormParameters, _ stay: ConsoleStay
    ) async throws -> Response {
        let view = ConsoleView(stay, self)
        func refused(_ sentence: String) -> Response {
            view.client(client, Self.form(of: client), notice: (.bad, "\(sentence: sentence)")).response(.unprocessable)
        }
        var body: [String: JSONValue] = ["rotate_secret": .bool(true)]
        if let text = parameters["secret_overlap"] {
            guard let seconds = ConsoleView.seconds(text) else {
                return refused("Time for the old one: write a duration as 14d, 12h, 90m or seconds.")
            }
            body["secret_overlap"] = .integer(seconds)
        }
        let path = "/clients/\(PercentEncoding.encode(client.id))"
        switch try await attempt(ConsoleCall(method: .patch, path: path, body: body), for: stay) {
        case .failure(let refusal): return refused(refusal.sentence)
        case .success(let answer):
            let secret = answer["client_secret"]?.string ?? ""
            let changed = try await services.administration.client(client.id)
            return view.client(changed, Self.form(of: changed), notice: ConsoleView.newSecret(secret)).response()
        }
    }

    /// `GET /console/new-client?preset=`: a form for a new client.
    func showConsoleNewClient(_ call: Call) async throws -> Response {
        try await console(call, needing: .owner) { stay in
            let preset = ClientForm.presets.first { $0.name == stay.query["preset"] }
            return ConsoleView(stay, self).newClient(preset.map { ClientForm.defaults(with: $0.values) }, id: "")
                .response()
        }
    }

    /// `POST /console/new-client`: makes a client.
    func createConsoleClient(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleNewClient, needing: .owner) { stay, parameters in
            let form = ClientForm(parameters)
            let id = parameters["client_id"] ?? ""
            let view = ConsoleView(stay, self)
            func refused(_ refusal: ConsoleRefusal) -> Response {
                view.newClient(form, id: id, notice: (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
            }
            var body: [String: JSONValue]
            do throws(ConsoleRefusal) { body = try form.changes(from: .defaults(with: [:])) } catch {
                return refused(error)
            }
            body["client_id"] = .string(id)
            let made = ConsoleCall(method: .post, path: "/clients", body: body)
            if parameters["act"] == "preview" { return view.newClient(form, id: id, preview: made).response() }
            switch try await attempt(made, for: stay) {
            case .failure(let refusal): return refused(refusal)
            case .success(let answer):
                let path = PagePath.consoleClients.appending(id)
                guard let secret = answer["client_secret"]?.string else {
                    return Self.redirect(to: stay.path(path, saying: "created"))
                }
                return view.secret(secret, of: id).response()
            }
        }
    }

    /// The form that shows a client as it is.
    private static func form(of client: Client) -> ClientForm { ClientForm(ClientForm.members(of: client)) }
}
