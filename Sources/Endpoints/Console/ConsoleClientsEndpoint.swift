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
        try await console(call) { stay in try await consoleClientPage(stay, nil).response() }
    }

    private func consoleClientPage(
        _ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) async throws -> ConsolePage {
        let client = try await services.administration.client(stay.call.parameter)
        let members = ClientForm.members(of: client)
        return ConsoleView(stay, self).client(client, ClientForm(members), ClientForm.mark(members), notice: notice)
    }

    /// `POST /console/clients/{client_id}`: shows the call for a change, makes it, makes a new secret, or deletes the client.
    func changeConsoleClient(_ call: Call) async throws -> Response {
        let page = PagePath.consoleClients.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .owner) { stay, parameters in
            let client = try await services.administration.client(call.parameter)
            let act = parameters["act"].flatMap(ClientAct.init(rawValue:))
            if let act {
                return try await make(
                    SentAct(
                        page: act == .delete ? .consoleClients : page,
                        making: { values throws(ConsoleRefusal) in try act.call(on: client.id, values) },
                        word: { _ in "deleted" }, show: consoleClientPage,
                        own: { $0["client_secret"]?.string.map(ConsoleView.newSecret) }),
                    parameters, for: stay)
            }
            return try await edit(client, parameters, stay, page)
        }
    }

    /// Shows the call for a change, or makes it.
    private func edit(
        _ client: Client, _ parameters: FormParameters, _ stay: ConsoleRequest, _ page: PagePath
    ) async throws -> Response {
        let (form, view, members) = (ClientForm(parameters), ConsoleView(stay, self), ClientForm.members(of: client))
        let (stored, mark) = (ClientForm(members), ClientForm.mark(members))
        if let earlier = mark.earlier(in: parameters) {
            let late = form.late(earlier, stored: stored)
            return view.client(client, late.form, mark, notes: late.notes, notice: FormMark.notice).response(.conflict)
        }
        func refused(_ refusal: ConsoleRefusal) -> Response {
            view.client(client, form, mark, notice: (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
        }
        let changes: [String: JSONValue]
        do throws(ConsoleRefusal) { changes = try form.changes(from: stored) } catch { return refused(error) }
        let path = "/clients/\(PercentEncoding.encode(client.id))"
        let made = ConsoleCall(method: .patch, path: path, body: changes)
        if changes.isEmpty { return Self.redirect(to: stay.path(page, saying: "same")) }
        if parameters["act"] == "preview" { return view.client(client, form, mark, preview: made).response() }
        switch try await attempt(made, for: stay) {
        case .failure(let refusal): return refused(refusal)
        case .success(let answer):
            guard let secret = answer["client_secret"]?.string else {
                return Self.redirect(to: stay.path(page, saying: "changed"))
            }
            return try await consoleClientPage(stay, ConsoleView.newSecret(secret)).response()
        }
    }

    /// `GET /console/new-client?preset=`: a form for a new client.
    func showConsoleNewClient(_ call: Call) async throws -> Response {
        try await console(call, needing: .owner) { stay in
            let preset = ClientForm.presets.first { $0.name == stay.query["preset"] }
            return ConsoleView(stay, self).newClient(preset, preset.map { .defaults(with: $0.values) }, id: "")
                .response()
        }
    }

    /// `POST /console/new-client`: makes a client.
    func createConsoleClient(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleNewClient, needing: .owner) { stay, parameters in
            let form = ClientForm(parameters)
            let id = parameters["client_id"] ?? ""
            let view = ConsoleView(stay, self)
            let preset = ClientForm.presets.first { $0.name == parameters["preset"] }
            func refused(_ refusal: ConsoleRefusal) -> Response {
                view.newClient(preset, form, id: id, notice: (.bad, "\(sentence: refusal.sentence)")).response(
                    .unprocessable)
            }
            var body: [String: JSONValue]
            do throws(ConsoleRefusal) { body = try form.changes(from: .defaults(with: [:])) } catch {
                return refused(error)
            }
            body["client_id"] = .string(id)
            let made = ConsoleCall(method: .post, path: "/clients", body: body)
            if parameters["act"] == "preview" { return view.newClient(preset, form, id: id, preview: made).response() }
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
}
