public import AdminActs
public import JSON
public import Pages
internal import Sessions

// The acts that the sent forms of the page of a user mean. Views/ConsoleView+UserActs draws the forms.

extension DisableUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["disable"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
        if let word = values["effective"] {
            guard let effective = User.LoginDisabling.Effective(rawValue: word) else {
                throw CallRefusal("effective must be immediate or on_expiry.")
            }
            self.effective = effective
        }
        (endsSessions, note) = (values.isOn("revoke_sessions"), values["reason"])
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash {
        ConsoleFlash(.loginsDisabled, answer.endedSessions)
    }
}

extension EnableUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["enable"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
        includesOwnSwitch = values.isOn("include_own_switch")
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.loginsEnabled) }
}

extension UnlockUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["unlock"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.userUnlocked) }
}

extension EndUserSessions: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["revoke"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash {
        ConsoleFlash(.sessionsEnded, answer.endedSessions)
    }
}

extension EditUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["edit"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject, try ProfileForm.changes(values))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.profileChanged) }
}

extension MakeResetLink: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["reset"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
        isSent = values.isOn("send")
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.created) }

    /// See `FormAct`.
    public func notice(_ answer: [String: JSONValue]) -> ConsoleNotice? {
        guard let end = answer["expires_at"]?.integer else { return nil }
        guard let link = answer["link"]?.string else {
            return (
                .good, "A link for a new password is on its way to the user, and can be used once, until \(time: end)."
            )
        }
        return (
            .good,
            """
            With this link the user sets a new password. It is shown this once, and can be used once, until \(time: end): \
            \(secret: link)
            """
        )
    }
}

extension RemovePasskey: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["remove-passkey"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(values["passkey"] ?? "", of: subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.passkeyRemoved) }
}

extension DeleteUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["delete"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.deleted) }

    /// See `FormAct`.
    public func landing(_ answer: [String: JSONValue]) -> PagePath? { .consoleUsers }
}

extension CreateUser: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.newUser
    /// See `FormAct`.
    public static let names = ["create"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        var members = try ProfileForm.changes(values)
        members["username"] = nil
        self.init(values["username"] ?? "", members)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.userCreated) }

    /// See `FormAct`.
    public func landing(_ answer: [String: JSONValue]) -> PagePath? {
        answer["user_id"]?.string.map { ConsoleView.path(ofUser: $0) }
    }
}

extension [String: JSONValue] {
    /// How many sessions an answer says to have ended.
    var endedSessions: Int { self["revoked"]?.integer.map { Int($0) } ?? 0 }
}
