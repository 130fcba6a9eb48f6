public import AdminActs
public import JSON
public import Pages
internal import Sessions

// The second factors of a user, and the policy of the settings.

extension ConsoleView {
    /// The authenticators of a user, with what an admin can do about them.
    func secondFactors(of user: User, _ facts: UserOverview, _ path: PagePath) -> ConsoleBlock {
        let table = ConsoleTable(
            "Authenticators", columns: ["Name", "Made", "Last used"],
            rows: facts.authenticators.map { factor in
                ["\(factor.name)", time(factor.createdAt), factor.lastUsedAt.map { time($0) } ?? "never"]
            }, empty: "No authenticator.")
        let decision: ConsoleText =
            switch facts.secondFactor {
            case .required?: "Each login of the user asks for a second factor, whatever settings and client say."
            case .exempt?: "The user is exempt: no policy asks for a second factor."
            case nil: "Settings and client decide whether logins ask for a second factor."
            }
        let left = Self.counted("\(facts.recoveryCodesLeft)", "recovery code")
        let removals = facts.authenticators.compactMap { removal(of: $0, user, path) }
        return .section(
            "Second factors",
            [.table(table), .text("\(left) left. \(decision)")]
                + [.acts(removals + [requirement(of: user, facts.secondFactor, path)].compactMap(\.self))])
    }

    private func removal(of factor: TOTPFactor, _ user: User, _ path: PagePath) -> ActForm? {
        let id = factor.id.description
        return form(
            RemoveSecondFactor.self, on: ActSubject(user), path, label: "Remove \(factor.name) (\(id.prefix(6)))",
            question: """
                Remove the authenticator \(name: factor.name) of \(Self.named(user))? Without another one the password alone \
                opens the account. Sessions go on.
                """,
            fields: [.hidden("factor", id)], button: "Remove \(factor.name)", isDestructive: true)
    }

    private func requirement(
        of user: User, _ present: UserDetails.SecondFactorRequirement?, _ path: PagePath
    ) -> ActForm? {
        form(
            RequireSecondFactor.self, on: ActSubject(user), path, label: "Decide for this user",
            question: """
                Decide whether policies of second factors apply to \(Self.named(user))? Sessions that do not meet the decision end.
                """,
            fields: [
                .choice(
                    "second_factor", label: "Second factor",
                    [
                        (value: RequireSecondFactor.inherit, label: "as settings and client say"),
                        (value: "required", label: "each login asks for one"),
                        (value: "exempt", label: "no policy asks for one"),
                    ], chosen: present?.rawValue ?? RequireSecondFactor.inherit),
                .check("keep_sessions", label: "Sessions go on all the same"),
            ],
            button: "Decide for \(user.username)")
    }

    /// The policy of the settings.
    func secondFactorPolicy(_ settings: Settings) -> ConsoleBlock {
        let act = form(
            SetSecondFactorPolicy.self, on: ActSubject(""), .consoleSettings, label: "Change the policy",
            question: """
                Change when logins ask for a second factor? With \(code: "required") sessions without one are asked for it at \
                their next refresh; none ends.
                """,
            fields: [
                .choice(
                    "second_factor_policy", label: "Logins ask for a second factor",
                    [
                        (value: "off", label: "never"),
                        (value: "if_enrolled", label: "if the user has an authenticator"),
                        (value: "required_at_login", label: "always; a user without one adds it first"),
                        (value: "required", label: "always, and running sessions at their next refresh"),
                    ], chosen: settings.secondFactorPolicy.rawValue)
            ],
            button: "Set the policy")
        return .section(
            "Second factors",
            [.text("The policy is \(code: settings.secondFactorPolicy.rawValue). A client can have a stricter one.")]
                + [.acts([act].compactMap(\.self))])
    }
}

extension RemoveSecondFactor: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["remove-factor"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(values["factor"] ?? "", of: subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}

extension RequireSecondFactor: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.user
    /// See `FormAct`.
    public static let names = ["require-factor"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(
            values["second_factor"].flatMap(UserDetails.SecondFactorRequirement.init(rawValue:)), of: subject)
        keepsSessions = values["keep_sessions"] == "1"
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash {
        ConsoleFlash(.sessionsEnded, answer.endedSessions)
    }
}

extension SetSecondFactorPolicy: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.settings
    /// See `FormAct`.
    public static let names = ["second-factor"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(values["second_factor_policy"].flatMap(SecondFactorPolicy.init(rawValue:)) ?? .ifEnrolled)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}
