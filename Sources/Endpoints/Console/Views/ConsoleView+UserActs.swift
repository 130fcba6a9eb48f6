internal import Cryptography
internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

// What can be done with a user.
extension ConsoleView {
    /// A user in a command: the username where it needs no quoting and is taken for nothing else, else the id.
    private func reference(_ user: User) -> String {
        Self.quoted(user.username) == user.username && Identifier<User>(user.username) == nil
            && !user.username.hasPrefix("-") && !user.username.hasPrefix("username:")
            ? user.username : user.id.description
    }

    private func act(
        _ act: UserAct, on user: User, _ path: PagePath, label: String, question: ConsoleText,
        fields: [ConsoleField] = [], button: String, isDestructive: Bool = false,
        command: @Sendable ([String: JSONValue], _ user: String) -> String
    ) -> ConsoleAct? {
        let reference = reference(user)
        return self.act(
            path, act.rawValue, label: label, question: question, fields: fields, button: button,
            isDestructive: isDestructive, command: { command($0.body ?? [:], reference) },
            making: { values throws(ConsoleRefusal) in try act.call(on: user.id, values) })
    }

    func acts(on user: User, _ path: PagePath) -> [ConsoleAct] {
        var acts: [ConsoleAct?] = []
        if user.disabledByAdmin == nil { acts.append(disable(user, path)) }
        if user.loginRefusal != nil { acts.append(enable(user, path)) }
        if user.wrongPasswords != nil {
            acts.append(
                act(
                    .unlock, on: user, path, label: "Unlock",
                    question: "Accept the passwords of \(Self.named(user)) again, however many were wrong?",
                    button: "Unlock", command: { "sojourn user unlock \($1)" }))
        }
        acts.append(edit(user, path))
        acts.append(
            act(
                .reset, on: user, path, label: "Link for a new password",
                question: """
                    Make a link by which \(Self.named(user)) sets a new password? It replaces an earlier one. The new \
                    password ends all sessions.
                    """,
                button: "Make the link", command: { "sojourn user reset-password \($1)" }))
        acts.append(
            act(
                .revoke, on: user, path, label: "End all sessions",
                question: "End every session of \(Self.named(user))? Each device has to log in again.",
                button: "End all sessions of \(user.username)", isDestructive: true,
                command: { "sojourn user revoke \($1)" }))
        acts.append(
            act(
                .delete, on: user, path, label: "Delete this user",
                question: """
                    Delete \(Self.named(user)), with every passkey and identity, and end all sessions? The user cannot be brought \
                    back. What the audit trail says of names and addresses is erased.
                    """,
                button: "Delete \(DisplayedName.cut(user.username))", isDestructive: true,
                command: { "sojourn user delete \($1)" }))
        return acts.compactMap(\.self)
    }

    private func disable(_ user: User, _ path: PagePath) -> ConsoleAct? {
        act(
            .disable, on: user, path, label: "Disable logins",
            question:
                "Refuse every login and refresh of \(Self.named(user))? Sessions are kept, unless you end them too.",
            fields: [
                .text("reason", label: "Note for other admins"),
                .choice(
                    "effective", label: "Access tokens",
                    [
                        (value: "immediate", label: "are refused at once"),
                        (value: "on_expiry", label: "work until they expire"),
                    ], chosen: "immediate"),
                .check("revoke_sessions", label: "End all sessions as well"),
            ],
            button: "Disable logins of \(user.username)", isDestructive: true,
            command: { body, user in
                let onExpiry = body["effective"]?.string == "on_expiry" ? " --on-expiry" : ""
                let revoke = body["revoke_sessions"]?.bool == true ? " --revoke" : ""
                let reason = body["reason"]?.string.map { " --reason \(Self.quoted($0))" } ?? ""
                return "sojourn user disable \(user)\(onExpiry)\(revoke)\(reason)"
            })
    }

    private func enable(_ user: User, _ path: PagePath) -> ConsoleAct? {
        act(
            .enable, on: user, path, label: "Enable logins",
            question: "Let \(Self.named(user)) log in and refresh again?",
            fields: user.disabledByUser == nil
                ? [] : [.check("include_own_switch", label: "Reset the user's own switch as well")],
            button: "Enable logins",
            command: { body, user in
                "sojourn user enable \(user)\(body["include_own_switch"]?.bool == true ? " --include-own" : "")"
            })
    }

    private func edit(_ user: User, _ path: PagePath) -> ConsoleAct? {
        act(
            .edit, on: user, path, label: "Edit",
            question: "Change the profile of \(Self.named(user))? Sessions go on. An empty field is removed.",
            fields: ProfileForm.fields(user), button: "Save the profile of \(user.username)",
            command: { body, user in
                // A shorter life may end sessions, which the command asks about and the form does not.
                let yes = body[ProfileForm.maximum.member] == nil ? "" : " --yes"
                return "sojourn user update\(yes) \(user)\(ProfileForm.options(body))"
            })
    }

    func removal(of passkey: Passkey, _ user: User, _ path: PagePath) -> ConsoleAct? {
        let id = Base64URL.encode(passkey.id)
        return act(
            .removePasskey, on: user, path, label: "Remove \(passkey.name) (\(id.prefix(6)))",
            question: "Remove the passkey \(name: passkey.name) of \(Self.named(user))? Sessions go on.",
            fields: [.hidden("passkey", id)], button: "Remove \(passkey.name)", isDestructive: true,
            command: { _, user in "sojourn passkey delete \(Self.operands(user, id))" })
    }

    // MARK: A new user

    /// The call that makes a user.
    static func creation(_ values: FormValues) throws(ConsoleRefusal) -> ConsoleCall {
        var body = try ProfileForm.changes(values)
        body["username"] = .string(values["username"] ?? "")
        return ConsoleCall(method: .post, path: "/users", body: body)
    }

    /// The form for a user that is not there yet.
    func newUser(_ notice: (look: ConsoleLook, text: ConsoleText)?) -> ConsolePage {
        let act = act(
            .consoleNewUser, "create", label: "New user",
            question: """
                Make a user without a password? The next page has a link by which the user sets one; a passkey or an identity \
                provider will do as well.
                """,
            fields: ProfileForm.fields(nil), button: "Make the user",
            command: { call in
                let body = call.body ?? [:]
                let options = ProfileForm.options(body, except: ["username"])
                return "sojourn user create --no-password\(options) "
                    + Self.operands(body["username"]?.string ?? "")
            }, making: Self.creation)
        return page(.users, "New user", notice: notice, act.map { [.acts([$0.opened])] } ?? [])
    }
}
