internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

extension ConsoleView {
    /// The clients.
    func clients(_ clients: [Client]) -> ConsolePage {
        let rows = clients.map { client -> [ConsoleText] in
            [
                "\(link: PagePath.consoleClients.appending(client.id), client.id)", "\(client.name ?? "")",
                client.isPublic ? "public" : "\(client.authenticationMethod.rawValue)",
                "\(client.grantTypes.map(ClientForm.label).joined(separator: ", "))",
                client.offlineSessionIdle.map { "\(Self.span($0))" } ?? "as the settings",
                client.dpop == .required ? "\(badge: "required", .plain)" : "", time(client.createdAt),
            ]
        }
        let presets = ClientForm.presets.map { preset -> ConsoleText in
            "\(link: PagePath("/console/new-client", ["preset": preset.name]), preset.label)"
        }
        return page(
            .clients, "Clients", lead: "The apps, and the backends that ask for tokens.",
            [
                .table(
                    ConsoleTable(
                        "Clients",
                        columns: [
                            "Id", "Name", "Authentication", "Grants", "Rolling window", "Proof of a key", "Made",
                        ],
                        rows: rows, empty: "There is no client."))
            ] + (stay.may(.owner) ? [.section("New client", [.list(presets)])] : []))
    }

    /// A client.
    func client(
        _ client: Client, _ form: ClientForm, preview: ConsoleCall? = nil,
        notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) -> ConsolePage {
        let path = PagePath.consoleClients.appending(client.id)
        var blocks: [ConsoleBlock] = [.facts(facts(client))]
        if let preview { blocks.append(call(preview)) }
        if stay.may(.owner) {
            blocks.append(.acts(acts(on: client, path)))
            blocks.append(
                .section(
                    "Change",
                    [
                        .editor(
                            ConsoleEditor(
                                path, groups: groups(form, [FormMark(ClientForm.members(of: client)).field]),
                                save: "Save", preview: "Show the call"))
                    ]))
        }
        if !client.hostedLogin.redirectURIs.isEmpty { blocks.append(redirectTest(client, path)) }
        blocks.append(snippets(client))
        return page(.clients, client.name ?? client.id, heading: "Client \(name: client.id)", notice: notice, blocks)
    }

    /// A form for a client that is not there yet; without a form, the choice of one.
    func newClient(
        _ form: ClientForm?, id: String, preview: ConsoleCall? = nil,
        notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) -> ConsolePage {
        guard let form else {
            return page(
                .clients, "New client",
                [
                    .list(
                        ClientForm.presets.map {
                            "\(link: PagePath("/console/new-client", ["preset": $0.name]), $0.label)"
                        })
                ])
        }
        var blocks: [ConsoleBlock] = []
        if let preview { blocks.append(call(preview)) }
        let name = ConsoleField.text("client_id", label: "Id (client_id), which never changes", value: id)
        blocks.append(
            .editor(
                ConsoleEditor(
                    .consoleNewClient, groups: groups(form, [name]), save: "Make the client", preview: "Show the call")
            ))
        return page(.clients, "New client", notice: notice, blocks)
    }

    /// The page that shows the secret of a new client.
    func secret(_ secret: String, of id: String) -> ConsolePage {
        page(
            .clients, "New client", notice: Self.newSecret(secret),
            [.text("\(link: PagePath.consoleClients.appending(id), "To the client")")])
    }

    /// The sentence that shows the secret of a client.
    static func newSecret(_ secret: String) -> (look: ConsoleLook, text: ConsoleText) {
        (.good, "This is the secret of the client. It is shown this once: \(code: secret)")
    }

    private func call(_ call: ConsoleCall) -> ConsoleBlock {
        .section("The call", [.text("Nothing has happened yet. This does the same by hand:"), .code(curl(call))])
    }

    private func facts(_ client: Client) -> [(name: String, value: ConsoleText)] {
        [
            ("Id", "\(code: client.id)"), ("Name", "\(client.name ?? "")"), ("Made", time(client.createdAt)),
            ("Authentication", client.isPublic ? "none: a public client" : "\(client.authenticationMethod.rawValue)"),
            ("Secret before it", client.earlierSecret.map { "accepted until \(time($0.endsAt))" } ?? ""),
            ("Grants", "\(client.grantTypes.map(ClientForm.label).joined(separator: ", "))"),
            ("Scope", "\(client.scope.description)"),
            ("Proof of a key", "\(client.dpop.rawValue)"),
            ("Rolling window", client.offlineSessionIdle.map { "\(Self.span($0))" } ?? "as the settings say"),
            ("Longest life", client.offlineSessionMax.map { "\(Self.span($0))" } ?? "as the settings say"),
            ("Receiver of logout tokens", "\(client.hostedLogin.backchannelLogoutURI ?? "")"),
        ]
    }

    /// The groups of the form. The name is first, and `own` fields follow it.
    private func groups(_ form: ClientForm, _ own: [ConsoleField]) -> [ConsoleEditor.Group] {
        let grants = Client.GrantType.allCases.map { grant in
            ConsoleField.check(
                "grant_types.\(grant.rawValue)", label: ClientForm.label(of: grant),
                isOn: form.grants.contains(grant.rawValue), word: grant.rawValue)
        }
        var groups = ClientForm.groups.map { group in
            ConsoleEditor.Group(group.title, group.members.map { field($0, form) })
        }
        groups[0].fields.insert(contentsOf: own, at: 1)
        groups.insert(ConsoleEditor.Group("Grants", grants), at: 1)
        return groups
    }

    private func field(_ member: ClientForm.Member, _ form: ClientForm) -> ConsoleField {
        let (name, kind, label) = member
        let value = form.texts[name] ?? ""
        return switch kind {
        case .text: .text(name, label: label, value: value)
        case .duration:
            .text(name, label: label, value: value, hint: "14d, 12h or seconds; empty: as the settings say.")
        case .list: .lines(name, label: label, value: value)
        case .json: .lines(name, label: label, value: value)
        case .flag: .check(name, label: label, isOn: value == "1")
        case .word(let words):
            .choice(
                name, label: label,
                words.map { (value: $0, label: $0.isEmpty ? "as that of access tokens" : $0) }, chosen: value)
        }
    }

    private func acts(on client: Client, _ path: PagePath) -> [ConsoleAct] {
        let url = "/clients/\(PercentEncoding.encode(client.id))"
        var acts: [ConsoleAct] = []
        if client.authenticationMethod.hasSecret {
            acts.append(
                ConsoleAct(
                    path, "rotate-secret", label: "New secret",
                    question: """
                        Make a new secret for \(name: client.id)? The old one is refused at once, and so are the tokens that the \
                        client got for itself, unless you give it some more time.
                        """,
                    fields: [
                        .text(
                            "secret_overlap", label: "Time for the old one", value: "",
                            hint: "7d, 12h or seconds, at most 30d; empty: none.")
                    ],
                    button: "Make a new secret", isDestructive: true,
                    curl: curl(ConsoleCall(method: .patch, path: url, body: ["rotate_secret": .bool(true)])),
                    command: "sojourn client update --rotate-secret \(Self.operands(client.id))"))
        }
        acts.append(
            ConsoleAct(
                path, "delete", label: "Delete this client",
                question: "Delete the client \(name: client.id) and end all its sessions? They cannot be brought back.",
                button: "Delete \(DisplayedName.cut(client.id))", isDestructive: true, curl: curl(.delete, url),
                command: "sojourn client delete --yes \(Self.operands(client.id))"))
        return acts
    }

    // MARK: For developers

    private func redirectTest(_ client: Client, _ path: PagePath) -> ConsoleBlock {
        let uri = stay.query["redirect_uri"]
        var blocks: [ConsoleBlock] = [
            .form(
                ConsoleForm(
                    path, isQuery: true,
                    fields: [.text("redirect_uri", label: "Redirect URI of a request", value: uri ?? "")],
                    button: "Test", isLine: true))
        ]
        if let uri, !uri.isEmpty { blocks.append(.text(verdict(on: uri, client))) }
        return .section("Test a redirect URI", blocks)
    }

    private func verdict(on uri: String, _ client: Client) -> ConsoleText {
        let login = client.hostedLogin
        if login.redirectURIs.contains(uri) { return "\(badge: "accepted", .good) It is registered as it stands." }
        if login.redirects(to: uri) {
            return
                "\(badge: "accepted", .good) It differs from a registered one in the port of a loopback address alone."
        }
        if !RedirectURI.isValid(uri) {
            return """
                \(badge: "refused", .bad) No client can register it: it must be https, http with a loopback host, or a scheme of \
                the app's own with a dot, without user and fragment.
                """
        }
        let near = login.redirectURIs.first {
            $0.lowercased() == uri.lowercased() || $0 == uri + "/" || $0 + "/" == uri
        }
        if let near {
            return """
                \(badge: "refused", .bad) URIs are compared byte for byte, and the registered one is \(code: near): look at the \
                case of letters and the last slash.
                """
        }
        return "\(badge: "refused", .bad) It is valid, but not registered for this client."
    }

    private func snippets(_ client: Client) -> ConsoleBlock {
        let issuer = endpoints.context.url("")
        var blocks: [ConsoleBlock] = []
        let secret =
            client.isPublic ? "-d client_id=\(Self.quoted(client.id))" : "-u \(Self.quoted(client.id + ":SECRET"))"
        if client.grantTypes.contains(.authorizationCode) {
            let uri = client.hostedLogin.redirectURIs.first ?? ""
            let url =
                "\(issuer)/oauth/authorize?response_type=code&client_id=\(PercentEncoding.encode(client.id))"
                + "&redirect_uri=\(PercentEncoding.encode(uri))&scope=\(PercentEncoding.encode(client.scope.description))"
                + "&state=STATE&code_challenge=CHALLENGE&code_challenge_method=S256"
            blocks += [
                .text("The address that the app opens in the browser:"), .code(url),
                .text("The code for tokens:"),
                .code(
                    "curl \(issuer)/oauth/token \(secret) -d grant_type=authorization_code -d code=CODE "
                        + "-d code_verifier=VERIFIER -d redirect_uri=\(Self.quoted(uri))"),
                .text("AppAuth:"),
                .code(
                    "OIDAuthorizationService.discoverConfiguration(forIssuer: URL(string: \"\(issuer)\")!) // clientId: "
                        + "\"\(client.id)\", redirectURL: \"\(uri)\""),
            ]
        }
        if client.grantTypes.contains(.refreshToken) {
            blocks += [
                .text("The silent renewal:"),
                .code("curl \(issuer)/oauth/token \(secret) -d grant_type=refresh_token -d refresh_token=TOKEN"),
                .text("The Swift SDK:"),
                .code(
                    "var configuration = SojournConfiguration(server: URL(string: \"\(issuer)\")!)\n"
                        + "configuration.clientID = \"\(client.id)\"\nlet sojourn = Sojourn(configuration)"),
            ]
        }
        if client.grantTypes.contains(.clientCredentials) {
            blocks += [
                .text("A token for the backend itself:"),
                .code("curl \(issuer)/oauth/token \(secret) -d grant_type=client_credentials"),
            ]
        }
        return .section("For developers", blocks)
    }
}
