internal import AdminActs
internal import Console
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
            view(stay).clients(try await services.administration.clients()).response()
        }
    }

    /// `GET /console/clients/{client_id}?redirect_uri=`: a client, with a form, a test of redirect URIs, and code for apps.
    func showConsoleClient(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleClientPage(stay, nil).response() }
    }

    private func consoleClientPage(
        _ stay: ConsoleRequest, _ notice: ConsoleNotice?
    ) async throws -> ConsolePage {
        let (client, service) = try await services.administration.clientWithBranding(stay.call.parameter)
        let members = Self.members(of: client)
        return view(stay).client(
            client, ClientForm(members), ClientForm.mark(members), beside: service,
            redirectURI: stay.query["redirect_uri"], notice: notice)
    }

    private func serviceBranding() async throws(ServiceError) -> Branding {
        try await services.administration.settings().branding
    }

    /// `POST /console/clients/{client_id}`: shows the call for a change, makes it, makes a new secret, or deletes the client.
    func changeConsoleClient(_ call: Call) async throws -> Response {
        let page = PagePath.consoleClients.appending(call.parameter)
        if let act = (try? call.form())?["act"], ActPage.client.act(named: act) != nil {
            return try await consoleForm(call, on: .client, of: page, needing: .owner, consoleClientPage)
        }
        return try await consoleForm(call, of: page, needing: .owner) { stay, parameters in
            let client = try await services.administration.client(call.parameter)
            return try await edit(client, parameters, stay, page)
        }
    }

    /// Shows the call for a change, or makes it.
    private func edit(
        _ client: Client, _ parameters: FormParameters, _ stay: ConsoleRequest, _ page: PagePath
    ) async throws -> Response {
        let (form, view, members) = (ClientForm(parameters.values), self.view(stay), Self.members(of: client))
        let (stored, mark) = (ClientForm(members), ClientForm.mark(members))
        let service = try await serviceBranding()
        if let earlier = mark.earlier(in: parameters.values) {
            let late = form.late(earlier, stored: stored)
            return view.client(
                client, late.form, mark, beside: service, notes: late.notes, notice: FormMark.notice
            ).response(.conflict)
        }
        func refused(_ refusal: CallRefusal) -> Response {
            view.client(client, form, mark, beside: service, notice: (.bad, "\(sentence: refusal.sentence)")).response(
                .unprocessable)
        }
        let changes: [String: JSONValue]
        do throws(CallRefusal) { changes = try form.changes(from: stored) } catch { return refused(error) }
        let act = EditClient(ActSubject(client.id), changes)
        if changes.isEmpty { return Self.redirect(to: stay.path(page, saying: ConsoleFlash(.unchanged))) }
        if parameters["act"] == "preview" {
            return view.client(client, form, mark, beside: service, preview: act).response()
        }
        switch try await attempt(act.call, for: stay) {
        case .failure(let refusal): return refused(refusal)
        case .success(let answer):
            guard let secret = answer["client_secret"]?.string else {
                return Self.redirect(to: stay.path(page, saying: ConsoleFlash(.changed)))
            }
            return try await consoleClientPage(stay, ConsoleView.newSecret(secret)).response()
        }
    }

    /// `GET /console/new-client?preset=`: a form for a new client.
    func showConsoleNewClient(_ call: Call) async throws -> Response {
        try await console(call, needing: .owner) { stay in
            let preset = ClientPreset.all.first { $0.name == stay.query["preset"] }
            return view(stay).newClient(preset, preset.map { Self.newClient.with($0.values) }, id: "")
                .response()
        }
    }

    /// `POST /console/new-client`: makes a client.
    func createConsoleClient(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleNewClient, needing: .owner) { stay, parameters in
            let form = ClientForm(parameters.values)
            let id = parameters["client_id"] ?? ""
            let view = self.view(stay)
            let preset = ClientPreset.all.first { $0.name == parameters["preset"] }
            func refused(_ refusal: CallRefusal) -> Response {
                view.newClient(preset, form, id: id, notice: (.bad, "\(sentence: refusal.sentence)")).response(
                    .unprocessable)
            }
            let body: [String: JSONValue]
            do throws(CallRefusal) { body = try form.changes(from: Self.newClient) } catch {
                return refused(error)
            }
            let act = CreateClient(ActSubject(id), body)
            if parameters["act"] == "preview" { return view.newClient(preset, form, id: id, preview: act).response() }
            switch try await attempt(act.call, for: stay) {
            case .failure(let refusal): return refused(refusal)
            case .success(let answer):
                let path = PagePath.consoleClients.appending(id)
                guard let secret = answer["client_secret"]?.string else {
                    return Self.redirect(to: stay.path(path, saying: ConsoleFlash(.created)))
                }
                return view.secret(secret, of: id).response()
            }
        }
    }

    /// The members of a client, as the admin API answers them.
    static func members(of client: Client) -> [String: JSONValue] {
        (try? StrictJSON.object(JSONAnswer.encodeOrEmpty(ClientAnswer(client)))) ?? [:]
    }

    /// The form of a client that has the defaults.
    static let newClient = ClientForm(
        members(of: Client(id: "new", createdAt: Instant(secondsSinceEpoch: 0), epoch: 0)))
}
