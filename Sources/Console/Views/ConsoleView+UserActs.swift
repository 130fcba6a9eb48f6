internal import AdminActs
internal import Cryptography
internal import HTTP
internal import JSON
public import Pages
internal import Sessions

// The forms of acts on a user, with their fields. Forms/UserForms reads what comes back.
extension ConsoleView {
    private func form<Act: FormAct>(
        _ act: Act.Type, on user: User, _ path: PagePath, label: String, question: ConsoleText,
        fields: [ConsoleField] = [], button: String, isDestructive: Bool = false
    ) -> ActForm? {
        form(
            act, on: ActSubject(user), path, label: label, question: question, fields: fields, button: button,
            isDestructive: isDestructive)
    }

    func acts(on user: User, _ path: PagePath) -> [ActForm] {
        var acts: [ActForm?] = []
        if user.disabledByAdmin == nil { acts.append(disable(user, path)) }
        if user.loginRefusal != nil { acts.append(enable(user, path)) }
        if user.wrongPasswords != nil {
            acts.append(
                form(
                    UnlockUser.self, on: user, path, label: "Unlock",
                    question: "Accept the passwords of \(Self.named(user)) again, however many were wrong?",
                    button: "Unlock"))
        }
        acts.append(edit(user, path))
        acts.append(
            form(
                MakeResetLink.self, on: user, path, label: "Link for a new password",
                question: """
                    Make a link by which \(Self.named(user)) sets a new password? It replaces an earlier one. The new \
                    password ends all sessions.
                    """,
                fields: user.profile.email.map { [.check("send", label: "Mail it to \($0), and do not show it here")] }
                    ?? [],
                button: "Make the link"))
        acts.append(
            form(
                EndUserSessions.self, on: user, path, label: "End all sessions",
                question: "End every session of \(Self.named(user))? Each device has to log in again.",
                button: "End all sessions of \(user.username)", isDestructive: true))
        acts.append(
            form(
                DeleteUser.self, on: user, path, label: "Delete this user",
                question: """
                    Delete \(Self.named(user)), with every passkey and identity, and end all sessions? The user cannot be brought \
                    back. What the audit trail says of names and addresses is erased.
                    """,
                button: "Delete \(DisplayedName.cut(user.username))", isDestructive: true))
        return acts.compactMap(\.self)
    }

    private func disable(_ user: User, _ path: PagePath) -> ActForm? {
        form(
            DisableUser.self, on: user, path, label: "Disable logins",
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
            button: "Disable logins of \(user.username)", isDestructive: true)
    }

    private func enable(_ user: User, _ path: PagePath) -> ActForm? {
        form(
            EnableUser.self, on: user, path, label: "Enable logins",
            question: "Let \(Self.named(user)) log in and refresh again?",
            fields: user.disabledByUser == nil
                ? [] : [.check("include_own_switch", label: "Reset the user's own switch as well")],
            button: "Enable logins")
    }

    private func edit(_ user: User, _ path: PagePath) -> ActForm? {
        form(
            EditUser.self, on: user, path, label: "Edit",
            question: "Change the profile of \(Self.named(user))? Sessions go on. An empty field is removed.",
            fields: ProfileForm.fields(user), button: "Save the profile of \(user.username)")
    }

    func removal(of passkey: Passkey, _ user: User, _ path: PagePath) -> ActForm? {
        let id = Base64URL.encode(passkey.id)
        return form(
            RemovePasskey.self, on: user, path, label: "Remove \(passkey.name) (\(id.prefix(6)))",
            question: "Remove the passkey \(name: passkey.name) of \(Self.named(user))? Sessions go on.",
            fields: [.hidden("passkey", id)], button: "Remove \(passkey.name)", isDestructive: true)
    }

    // MARK: A new user

    /// The form for a user that is not there yet.
    public func newUser(_ notice: ConsoleNotice?) -> ConsolePage {
        let act = self.form(
            CreateUser.self, on: ActSubject(""), .consoleNewUser, label: "New user",
            question: """
                Make a user without a password? The next page has a link by which the user sets one; a passkey or an identity \
                provider will do as well.
                """,
            fields: ProfileForm.fields(nil), button: "Make the user")
        return page(.users, "New user", notice: notice, act.map { [.acts([$0.opened])] } ?? [])
    }
}
