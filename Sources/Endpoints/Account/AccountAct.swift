internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What a form of the account pages does. If it needs a login first, it is done after that. The change of the password is none
/// of them, because it takes the old password, which travels in no request.
enum AccountAct: CaseIterable {
    /// Ends sessions.
    case end
    /// Sets the user's own switch.
    case logins
    /// Adds, names or removes a passkey.
    case passkeys
    /// Adds, confirms or removes an authenticator app, or makes recovery codes.
    case factors
    /// Lets a device in, or refuses it.
    case decision
    /// Stores the profile.
    case profile
    /// Has a code sent to a new mailbox.
    case email
    /// Deletes the account.
    case deletion

    /// Where its form goes.
    var path: PagePath {
        switch self {
        case .end: .accountEnd
        case .logins: .accountLogins
        case .passkeys: .accountPasskeys
        case .factors: .accountFactors
        case .decision: .deviceDecision
        case .profile: .accountProfile
        case .email: .accountEmail
        case .deletion: .accountDelete
        }
    }

    /// The page that has its form.
    func page(of form: FormParameters) -> PagePath {
        switch self {
        case .end: .account
        case .logins, .passkeys: .accountSecurity
        case .factors: .accountFactors
        case .decision: Endpoints.devicePath(form)
        case .profile: .accountProfile
        case .email: .accountEmail
        case .deletion: .accountDelete
        }
    }

    /// Whether it needs a login of the last minutes, whatever the form says. A decision needs one to let the device in.
    private var needsRecentLogin: Bool {
        switch self {
        // Of the profile, some members need one, which the service demands.
        case .end, .decision, .profile: false
        case .logins, .passkeys, .factors, .email, .deletion: true
        }
    }

    /// Whether the session of the browser is good enough.
    func isAllowed(_ visit: AccountPageSession) -> Bool { visit.isRecent || !needsRecentLogin }

    /// Whether it is possible while the user's own switch is on.
    var isPossibleInPause: Bool { self == .logins }
}

extension PendingForm {
    /// The fields of all acts.
    private static let names: [FormField] = [
        .session, .which, .pause, .effective, .endSessions, .act, .passkey, .name, .credential, .factor, .userCode,
        .decision,
        .username, .displayName, .givenName, .familyName, .email, .phoneNumber, .country,
        .confirmed,
    ]

    /// A form of an act.
    init(_ act: AccountAct, _ form: FormParameters, of userID: Identifier<User>) {
        let pairs = Self.names.compactMap { field in form[field].map { (field.rawValue, $0) } }
        self.init(path: act.path.text, fields: Dictionary(pairs) { first, _ in first }, userID: userID)
    }

    /// The act and its form; nil for a path that is none of an act.
    fileprivate var parts: (act: AccountAct, form: FormParameters)? {
        let pairs = fields.map { FormPair(name: $0.key, value: $0.value) }
        guard let act = AccountAct.allCases.first(where: { $0.path.text == path }),
            let form = try? FormParameters(pairs)
        else { return nil }
        return (act, form)
    }
}

extension Endpoints {
    /// Does what a form of the account pages says. An act that needs a newer login leads to one, and is done after it.
    func perform(_ act: AccountAct, _ form: FormParameters, _ stay: AccountPageRequest) async throws -> Response {
        guard act.isAllowed(stay.visit) else { return try logInAgain(stay, toFinish: act, form) }
        do throws(any Error) {
            return switch act {
            case .end: try await endDevices(form, stay)
            case .logins: try await switchLogins(form, stay)
            case .passkeys: try await changePasskeys(form, stay)
            case .factors: try await changeFactors(form, stay)
            case .decision: try await decide(form, stay)
            case .profile: try await changeProfile(form, stay)
            case .email: try await changeEmail(form, stay)
            case .deletion: try await deleteAccount(form, stay)
            }
        } catch ServiceError.insufficientUserAuthentication { return try logInAgain(stay, toFinish: act, form) }
    }

    /// Does what the user wanted before the login, once; nil if there is nothing to do. Another user has not wanted it.
    func finish(
        _ request: AuthorizationRequest, _ handle: BrowserHandle, _ transport: PageTransport, _ flow: FlowSecret,
        _ call: Call
    ) async -> Response? {
        guard let pending = request.pending, let (act, form) = pending.parts else { return nil }
        do {
            guard let visit = try await services.pageLogin.accountVisit(handle),
                visit.user.id.description == pending.userID, act.isPossibleInPause || !visit.isPaused
            else { return nil }
            try visit.session.refuseOnProbation(at: context.clock.now)
            guard try await services.pageLogin.use(request) else { return nil }
            let stay = AccountPageRequest(visit: visit, transport: transport, call: call, flow: flow)
            do { return try await perform(act, form, stay) } catch {
                log(error, .seeOther, call)
                return redirect(stay, to: act.page(of: form), saying: AccountFlash(.again))
            }
        } catch {
            log(error, .seeOther, call)
            return nil
        }
    }
}
