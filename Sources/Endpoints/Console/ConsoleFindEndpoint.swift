internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The search of the console.
extension Endpoints {
    /// `GET /console`: the search field.
    func showConsole(_ call: Call) async throws -> Response {
        try await console(call) { stay in view(stay).find().response() }
    }

    /// `POST /console/find`: leads to the thing that is searched for, or says what a pasted token is. It is a form, because a
    /// token in a URL would stay in the history of the browser.
    func findInConsole(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .console, needing: .read) { stay, form in
            let text = Self.trimmed(form["q"] ?? "")
            let view = self.view(stay)
            guard !text.isEmpty else { return Self.redirect(to: PagePath.console.text) }
            guard text.utf8.count <= 8192 else { return view.find(lookedFor: "").response(.notFound) }
            if let token = try await services.accessTokens.inspect(text) {
                return view.explanation(of: token, idToken: services.pageLogin.hint(text)).response()
            }
            guard Text.isValid(text, lengthMax: 256) else { return view.find(lookedFor: "").response(.notFound) }
            if let path = try await place(of: text) { return Self.redirect(to: path.text) }
            if let users = try await users(like: text) {
                return users.count == 1
                    ? Self.redirect(to: ConsoleView.path(ofUser: users[0].id).text)
                    : view.find(lookedFor: text, users).response()
            }
            return view.find(lookedFor: text).response(.notFound)
        }
    }

    /// The users with a username that begins with a text, by the index of usernames; or else with that telephone number, by the
    /// index of numbers. Nil: there is none.
    private func users(like text: String) async throws(ServiceError) -> [User]? {
        let key = Text.key(text)
        let page = try await services.administration.users(matching: nil, after: key, limit: ConsoleView.rowsMax)
        let named = page.items.filter { Text.key($0.username).hasPrefix(key) }
        if !named.isEmpty { return named }
        let found = try await services.administration.users(withPhoneNumber: text, limit: ConsoleView.rowsMax)
        return found.isEmpty ? nil : found
    }

    /// `GET /console/find` and `GET /console/leave`: the addresses of forms, to which a browser comes back by its history.
    func redirectToConsole(_ call: Call) async throws -> Response {
        try await console(call) { _ in Self.redirect(to: PagePath.console.text) }
    }

    /// `GET /console/users?q=&cursor=`: the users, or those with a text in their name, address, telephone number or username.
    func showConsoleUsers(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let query = try QueryParameters(call, known: ["q", "cursor"] + ConsoleRequest.ownParameters)
            let (text, cursor) = (try query.text("q"), try query.encodedCursor())
            var users = try await services.administration.users(
                matching: text, after: cursor, limit: ConsoleView.rowsMax)
            users.nextCursor = users.nextCursor.map { QueryParameters.cursor(at: $0) }
            return view(stay).users(users, matching: text ?? "", isFirst: cursor == nil).response()
        }
    }

    /// The page of what has that name or that id; nil if nothing is found by an index.
    private func place(of text: String) async throws(ServiceError) -> PagePath? {
        let administration = services.administration
        if let id = Identifier<Session>(text) {
            if try await known({ () async throws(ServiceError) in try await administration.session(id) }) != nil {
                return ConsoleView.path(ofSession: id)
            }
            let logins = services.phoneLogins
            if try await known({ () async throws(ServiceError) in try await logins.login(id) }) != nil {
                return ConsoleView.path(ofLogin: id)
            }
            if let login = try await administration.login(id) { return ConsoleView.path(ofUser: login.userID) }
        }
        if let id = Identifier<User>(text),
            try await known({ () async throws(ServiceError) in try await administration.user(.id(id)) }) != nil
        {
            return ConsoleView.path(ofUser: id)
        }
        if let user = try await administration.user(called: text) { return ConsoleView.path(ofUser: user.id) }
        // A user with the name of a client is nearer than the client, because most questions are about users.
        if try await administration.clients().contains(where: { $0.id == text }) {
            return PagePath.consoleClients.appending(text)
        }
        let keys = administration.signingKeys().map(\.id) + (try await administration.adminKeys()).map(\.id)
        if keys.contains(text) { return .consoleKeys }
        // Logs and databases of others write ids in upper case and with hyphens.
        let plain = text.lowercased().replacing("-", with: "")
        return plain != text && Identifier<Session>(plain) != nil ? try await place(of: plain) : nil
    }

    /// The text without white space and quotation marks around it, and without the name of an authentication scheme before a token.
    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        func isOutside(_ character: Character) -> Bool { character.isWhitespace || "\"'".contains(character) }
        while let first = text.first, isOutside(first) { text.removeFirst() }
        while let last = text.last, isOutside(last) { text.removeLast() }
        for scheme in ["authorization:", "bearer ", "dpop "] {
            while let first = text.first, first.isWhitespace { text.removeFirst() }
            if text.prefix(scheme.count).lowercased() == scheme { text = text.dropFirst(scheme.count) }
        }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        return String(text)
    }
}
