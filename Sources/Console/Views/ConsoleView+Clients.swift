public import AdminActs
internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The list of the clients.
    public func clients(_ clients: [Client]) -> ConsolePage {
        let new: [ConsoleBlock] =
            admin.may(.owner) ? [.section("New client", [Self.presetCards])] : []
        return page(
            .clients, "Clients", lead: "The apps, and the backends that ask for tokens.",
            [.items(clients.map(item), empty: "There is no client.")] + new)
    }

    private static let presetCards = ConsoleBlock.cards(
        ClientPreset.all.map { preset in
            (PagePath("/console/new-client", ["preset": preset.name]), preset.label, preset.text)
        })

    private func item(_ client: Client) -> ConsoleItem {
        let path = PagePath.consoleClients.appending(client.id)
        let kind: ConsoleText =
            client.isPublic ? "\(badge: "public", .plain)" : "\(badge: client.authenticationMethod.rawValue, .plain)"
        let proof: ConsoleText = client.dpop != .optional ? " \(badge: "proof of a key", .good)" : ""
        let id: ConsoleText = client.name == nil ? "" : " \(code: client.id)"
        let window: ConsoleText =
            client.offlineSessionIdle.map { "rolling window of \(Self.span($0)) · " } ?? ""
        let grants = client.grantTypes.map(ClientForm.label).joined(separator: ", ")
        return ConsoleItem(
            "\(link: path, client.name ?? client.id)\(id) \(kind)\(proof)",
            lines: ["\(grants.isEmpty ? "no grant" : grants) · \(window)made \(time(client.createdAt))"])
    }

    /// A client.
    ///
    /// - Parameters:
    ///   - service: the brand of the service, which pages show where the client has none.
    ///   - mark: what the form was filled with.
    ///   - notes: what stands beside fields, by their names.
    ///   - redirectURI: one that is tested.
    public func client(
        _ client: Client, _ form: ClientForm, _ mark: FormMark, beside service: Branding,
        notes: [String: String] = [:], redirectURI: String? = nil, preview: (any AdminAct)? = nil,
        notice: ConsoleNotice? = nil
    ) -> ConsolePage {
        let path = PagePath.consoleClients.appending(client.id)
        var blocks: [ConsoleBlock] = [.facts(facts(client)), .acts(acts(on: client, path))]
        if client.seemsToLackOrigins {
            blocks.append(
                .text(
                    "It has an https redirect URI and no origin. If the app runs in a page, name the origin of the page below, so that it can call this server."
                ))
        }
        if let preview {
            blocks.append(commands(preview))
        }
        if admin.may(.owner) {
            let editor = ConsoleEditor(
                path, groups: groups(form, nil, [mark.field], notes), save: "Save", preview: "Show the commands")
            blocks.append(.section("Change", [.editor(editor)]))
        }
        blocks.append(
            .section("Brand", [.brand(BrandDrawing(client.branding.over(service).drawn(client.name ?? client.id)))]))
        if !client.page.redirectURIs.isEmpty { blocks.append(redirectTest(redirectURI, client, path)) }
        blocks.append(snippets(client))
        return page(.clients, client.name ?? client.id, heading: "Client \(name: client.id)", notice: notice, blocks)
    }

    /// A form for a client that is not there yet; without a form, the choice of one.
    public func newClient(
        _ preset: ClientPreset?, _ form: ClientForm?, id: String, preview: (any AdminAct)? = nil,
        notice: ConsoleNotice? = nil
    ) -> ConsolePage {
        guard let form else { return page(.clients, "New client", [Self.presetCards]) }
        let own: [ConsoleField] = [
            .text("client_id", label: "Id", value: id, hint: "It never changes. For example shop-ios"),
            .hidden("preset", preset?.name ?? ""),
        ]
        let editor = ConsoleEditor(
            .consoleNewClient, groups: groups(form, preset, own, [:]), save: "Make the client",
            preview: "Show the commands")
        return page(
            .clients, "New client", lead: preset.map { "\(sentence: $0.label). \(sentence: $0.text)" }, notice: notice,
            (preview.map { [commands($0)] } ?? []) + [.editor(editor)])
    }

    /// The page that shows the secret of a new client.
    public func secret(_ secret: String, of id: String) -> ConsolePage {
        page(
            .clients, "New client", notice: Self.newSecret(secret),
            [.text("\(link: PagePath.consoleClients.appending(id), "To the client")")])
    }

    /// The sentence that shows the secret of a client.
    public static func newSecret(_ secret: String) -> ConsoleNotice {
        (.good, "This is the secret of the client. It is shown this once: \(secret: secret)")
    }

    /// The commands that do what the form does.
    private func commands(_ act: any AdminAct) -> ConsoleBlock {
        let commands = act.commands(at: admin.baseURL)
        return .section(
            "The same by hand",
            [
                .text(
                    "Nothing has happened yet. \(commands.count == 1 ? "This" : "Either command") does what the form does:"
                )
            ]
                + commands.map { .code($0) })
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
            ("Receiver of logout tokens", "\(client.page.backchannelLogoutURI ?? "")"),
        ]
    }

    /// The groups of the form: first what matters for this client, with the name in front and `own` fields behind it, and then all
    /// else, folded.
    private func groups(
        _ form: ClientForm, _ preset: ClientPreset?, _ own: [ConsoleField], _ notes: [String: String]
    ) -> [ConsoleEditor.Group] {
        let essential = form.essential(preset, beside: setting.newClient).union(notes.keys)
        func fields(_ members: [ClientForm.Member]) -> [ConsoleField] {
            members.flatMap { member in
                field(member, form, preset?.examples[member.name]).map { $0.noted(notes[member.name]) }
            }
        }
        var first = fields(ClientForm.members.filter { essential.contains($0.name) })
        first.insert(contentsOf: own, at: 1)
        let chosen = Client.GrantType.allCases.filter { form.grants.contains($0.rawValue) }.map(ClientForm.label)
        let grantNote = notes[ClientForm.grantTypes]
        let grants = Client.GrantType.allCases.map { grant in
            ConsoleField.check(
                "\(ClientForm.grantTypes).\(grant.rawValue)", label: ClientForm.label(of: grant),
                isOn: form.grants.contains(grant.rawValue), word: grant.rawValue)
        }
        let rest = ClientForm.groups.compactMap { group -> ConsoleEditor.Group? in
            let members = group.members.filter { !essential.contains($0.name) }
            let count = Self.counted("\(members.count)", "more field")
            return members.isEmpty
                ? nil : ConsoleEditor.Group(group.title, fields(members), summary: "\(count), as by default")
        }
        return [
            ConsoleEditor.Group("App", first),
            ConsoleEditor.Group(
                "Grants", grants,
                summary: ([chosen.isEmpty ? "none" : chosen.joined(separator: ", ")] + [grantNote].compactMap(\.self))
                    .joined(separator: " · "), isOpen: grantNote != nil),
        ] + rest
    }

    private func field(_ member: ClientForm.Member, _ form: ClientForm, _ example: String?) -> [ConsoleField] {
        let (name, kind, label) = member
        let value = form.texts[name] ?? ""
        let hint = example.map { "For example \($0)" }
        switch kind {
        case .text: return [.text(name, label: label, value: value, hint: hint)]
        case .duration: return [.duration(name, label: label, value: value, hint: "Empty: as the settings say.")]
        case .list: return [.lines(name, label: label, value: value, hint: hint ?? "One on each line.")]
        case .json: return [.lines(name, label: label, value: value, hint: hint)]
        case .flag: return [.check(name, label: label, isOn: value == "1")]
        case .word(let words):
            return [
                .choice(
                    name, label: label,
                    words.map { (value: $0, label: $0.isEmpty ? "as that of access tokens" : $0) }, chosen: value)
            ]
        case .methods: return methods(name, label, value.split(separator: "\n").map(String.init))
        }
    }

    /// A box for each way to log in: those without a provider, those of the configured providers, and others that the client has.
    private func methods(_ name: String, _ label: String, _ chosen: [String]) -> [ConsoleField] {
        let providers = setting.providers
        var words = Client.LoginMethod.withoutProviders.map(\.rawValue)
        words += providers.map { Client.LoginMethod.provider($0).rawValue }
        words += chosen.filter { !words.contains($0) }
        let boxes = words.map { word in
            ConsoleField.check("\(name).\(word)", label: Self.way(word), isOn: chosen.contains(word))
        }
        return [
            .hidden(ClientForm.offered(name), words.joined(separator: " ")),
            .boxes(label: label, boxes, hint: "None ticked: every way but a code by mail."),
        ]
    }

    private static func way(_ word: String) -> String {
        guard let method = Client.LoginMethod(rawValue: word) else { return word }
        return switch method {
        case .password: "password"
        case .passkey: "passkey"
        case .phone: "phone, which lets another device in"
        case .anonymous: "none: an anonymous user"
        case .invitation: "invitation of an admin"
        case .email: "code or link by mail"
        case .provider(let name): "identity provider \(name)"
        }
    }

    private func acts(on client: Client, _ path: PagePath) -> [ActForm] {
        var acts: [ActForm?] = []
        if client.authenticationMethod.hasSecret {
            acts.append(
                form(
                    RotateClientSecret.self, on: ActSubject(client.id), path, label: "New secret",
                    question: """
                        Make a new secret for \(name: client.id)? The old one is refused at once, and so are the tokens that the \
                        client got for itself, unless you give it some more time.
                        """,
                    fields: [
                        .duration(
                            "secret_overlap", label: "Time for the old one", value: "",
                            hint: "At most 30d; empty: none.")
                    ],
                    button: "Make a new secret", isDestructive: true))
        }
        acts += logoForms(
            SetLogo.self, on: ActSubject(client.id), path, of: "\(name: client.id)",
            hasLogo: client.branding.logo != nil)
        acts.append(
            form(
                DeleteClient.self, on: ActSubject(client.id), path, label: "Delete this client",
                question: "Delete the client \(name: client.id) and end all its sessions? They cannot be brought back.",
                button: "Delete \(DisplayedName.cut(client.id))", isDestructive: true))
        return acts.compactMap(\.self)
    }

    // MARK: For developers

    private func redirectTest(_ uri: String?, _ client: Client, _ path: PagePath) -> ConsoleBlock {
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
        let login = client.page
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
        let issuer = setting.issuer
        var blocks: [ConsoleBlock] = []
        let secret =
            client.isPublic ? "-d client_id=\(Shell.quoted(client.id))" : "-u \(Shell.quoted(client.id + ":SECRET"))"
        if client.grantTypes.contains(.authorizationCode) {
            let uri = client.page.redirectURIs.first ?? ""
            let url =
                "\(issuer)/oauth/authorize?response_type=code&client_id=\(PercentEncoding.encode(client.id))"
                + "&redirect_uri=\(PercentEncoding.encode(uri))&scope=\(PercentEncoding.encode(client.scope.description))"
                + "&state=STATE&code_challenge=CHALLENGE&code_challenge_method=S256"
            blocks += [
                .text("The address that the app opens in the browser:"), .code(url),
                .text("The code for tokens:"),
                .code(
                    "curl \(issuer)/oauth/token \(secret) -d grant_type=authorization_code -d code=CODE "
                        + "-d code_verifier=VERIFIER -d redirect_uri=\(Shell.quoted(uri))"),
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
