/// A login that this phone lets happen: on another device whose picture was scanned, in a browser on the phone, after a message
/// of a backend, or in the app itself.
///
/// `Sojourn.startSession` and `Sojourn.appLogin` make one. It is told apart from the stay of the user in this app: whatever
/// becomes of it, nobody is logged out here. It is to be kept for as long as it is shown: an object that is released asks no more,
/// and the server ends the login in time.
public actor LoginSession {
    /// What makes the session begin.
    enum Origin: Sendable {
        case code(ScannedCode)
        /// An AppLogin at the backend of that client.
        case app(client: String)
        case known(LoginDetails)
    }

    nonisolated let log = LoginEventLog()
    nonisolated let isOfApp: Bool
    nonisolated let isOfInvitation: Bool
    let options: LoginSessionOptions
    let origin: Origin
    /// The account that acts.
    var account: Sojourn
    nonisolated let accounts: [Sojourn]
    var machine: LoginSessionMachine
    /// What the server told last.
    var known: LoginDetails?
    /// The number that the user has typed.
    var number: Int?
    var access: BackendAccess?
    /// The proofs of an AppLogin that were sent; the answer to the right one opens the backend.
    var backendProofs: [(call: LoginSessionCall, attempt: Int)] = []
    /// What an enrolment has beside a login.
    var enrolment = Enrolment()
    /// Whether the user has no biometry behind this session yet.
    var hasNoFactor = false
    /// The claim, for a stop that comes before its answer.
    var claim: Task<Conclusion, Never>?
    var follower: Task<Void, Never>?
    var timer: Task<Void, Never>?
    /// The version of the login that the server told last.
    var version: String?

    init(_ origin: Origin, _ account: Sojourn, _ options: LoginSessionOptions) {
        self.origin = origin
        self.options = options
        self.account = account
        accounts = [account] + options.otherAccounts
        switch origin {
        case .known(let details):
            machine = LoginSessionMachine(isResumed: true, isAppLogin: details.isAppLogin)
            isOfApp = false
        case .app: (machine, isOfApp) = (LoginSessionMachine(isAppLogin: true), true)
        case .code: (machine, isOfApp) = (LoginSessionMachine(), false)
        }
        if case .code(let code) = origin { isOfInvitation = code.isEnrolment } else { isOfInvitation = false }
    }

    deinit {
        follower?.cancel()
        timer?.cancel()
        log.add([], log.status, log.details, isFinished: true)
    }

    // MARK: What the app shows

    /// Where the session stands.
    public nonisolated var status: LoginStatus { log.status }
    /// What the user is shown of it; nil until the server has told it.
    public nonisolated var details: LoginDetails? { log.details }
    /// Every event, from the first one on.
    public nonisolated var events: LoginSessionEvents { LoginSessionEvents(log: log) }
    /// Every status, from `STARTING` on.
    public nonisolated var statuses: LoginStatuses { LoginStatuses(log: log) }
    /// Whether it enrolls this device with a new account.
    public nonisolated var isRegistration: Bool { isOfInvitation || log.details?.isRegistration == true }
    /// Whether it logs the app itself in at its backend.
    public nonisolated var isAppLogin: Bool { isOfApp || log.details?.isAppLogin == true }
    /// What opens the backend; nil until an AppLogin has succeeded, and for every other session.
    public var backendAccess: BackendAccess? { access }

    /// The accounts that can be chosen: those of this phone, or the one that an enrolment brings, from the moment on at which the
    /// server has told it. Its name is nil if the user chooses it.
    public func candidates() async -> [Account] {
        if isRegistration {
            return known?.accountID.map { [Account(userID: $0, username: known?.username)] } ?? []
        }
        var found: [Account] = []
        for account in accounts {
            if let session = try? await account.living() { found.append(session.account) }
        }
        return found
    }

    // MARK: What the user does

    /// Tells that the user can act now. Only a session on hold needs it: see `skipsReadyForUserInteraction`.
    public func startUserInteraction() async throws(SojournError) {
        try await act(.start) { .start($0) }
    }

    /// Confirms the login, with the account that acts, or the enrolment.
    ///
    /// - Parameter number: what the other device shows, if `needsNumber`. There is one try: a wrong number ends the session.
    public func confirm(number: Int? = nil) async throws(SojournError) {
        let number = try checked(number)
        self.number = number
        try await act(.confirm) { .confirm($0, number: number) }
    }

    /// Confirms the login with another account of this phone: one of `otherAccounts`, or the first one again.
    public func setAccount(_ other: Sojourn, number: Int? = nil) async throws(SojournError) {
        guard accounts.contains(where: { $0 === other }) else {
            throw .refused(Refusal(status: 0, code: "unknown_account"))
        }
        if other !== account { try await handOver(to: other) }
        try await confirm(number: number)
    }

    /// Asks the user for biometry, once, and gives the server the signature of the presence key over this login and its number.
    ///
    /// A wrong factor throws `refused` with `wrong_second_factor`, and the session waits for the next attempt as long as there is
    /// one. A prompt that the user cancels throws `presence`, and nothing is sent.
    ///
    /// - Parameters:
    ///   - reason: what the prompt says.
    ///   - number: what the other device shows, if the confirmation was left out.
    public func enterSecondFactor(
        reason: String = PresencePrompt.reason, number: Int? = nil
    ) async throws(SojournError) {
        if isOfInvitation { return try await enrol(by: .biometry(reason: reason, username: nil)) }
        let number = try checked(number ?? self.number)
        let isFirst = context == .firstSet
        try await prove(number) { account, id throws(SojournError) in
            .assertion(try await account.loginAssertion(id, number: number, reason, isFirst: isFirst))
        }
    }

    /// Gives the server the password of the account as the second factor.
    public func enterSecondFactor(password: String, number: Int? = nil) async throws(SojournError) {
        if isOfInvitation { return try await enrol(by: .password(password, username: nil)) }
        let number = try checked(number ?? self.number)
        try await prove(number) { _, _ throws(SojournError) in .password(password) }
    }

    /// Gives the server the PIN of the app as the second factor (`Sojourn.setPIN`).
    ///
    /// A wrong one throws `refused` with `wrong_pin`. After the third one in a row, at all logins together, it throws `pin_locked`, and
    /// the session goes on to wait for biometry or the password, of which a right one opens the PIN again. An enrolment takes none:
    /// the user sets the PIN after it.
    public func enterSecondFactor(pin: String, number: Int? = nil) async throws(SojournError) {
        if isOfInvitation { throw .refused(Refusal(status: 0, code: "pin_not_set")) }
        let number = try checked(number ?? self.number)
        try await prove(number) { account, _ throws(SojournError) in .pin(try await account.loginMAC(ofPIN: pin)) }
    }

    /// Enrols with the first password of the account, or with that which the account has. The account is stored as after a login.
    ///
    /// - Parameter username: the name of the account, if the invitation leaves it to the user. Throws `refused` with
    ///   `username_taken` if another user has it.
    public func enrol(password: String, username: String? = nil) async throws(SojournError) {
        try await enrol(by: .password(password, username: username))
    }

    /// Enrols with biometry, after one prompt: the mode of the new session is `BIOMETRIC`.
    ///
    /// - Parameters:
    ///   - reason: what the prompt says.
    ///   - username: the name of the account, if the invitation leaves it to the user.
    public func enrolByBiometry(
        reason: String = PresencePrompt.reason, username: String? = nil
    ) async throws(SojournError) {
        try await enrol(by: .biometry(reason: reason, username: username))
    }

    /// Aborts the session while it asks for a second factor.
    public func inputCancel() async throws(SojournError) {
        guard machine.status.input == .secondFactor else {
            throw .refused(Refusal(status: 0, code: machine.status.isFinal ? "session_terminated" : "not_awaited"))
        }
        try await stopSession()
    }

    /// Ends the session in every state: it denies a login, and logs out what the login has brought.
    ///
    /// While the user has not acted, it ends at once, also without the network; the server is told in the background. After that
    /// only the server knows whether the device was let in: the error is `unreachable` if it cannot be asked, and the call can be
    /// repeated.
    ///
    /// - Parameter isReport: whether the user says that the login is not theirs.
    public func stopSession(isReport: Bool = false) async throws(SojournError) {
        try begin(.stop)
        let task = Task { await self.stop(isReport: isReport) }
        guard !machine.status.isFinal else { return }
        try await task.value.get()
    }
}
