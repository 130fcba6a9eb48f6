/// Makes the encrypted messages about a login that was pushed to the phones of a user.
public struct PushMessages: Sendable {
    /// The largest number of devices for which one login has messages: those that were refreshed last.
    public static let devicesMax = 20
    private static let lookMax = 1000

    private let context: ServiceContext

    /// Messages of the server of `context`.
    public init(_ context: ServiceContext) { self.context = context }

    /// The messages about `event`: one for each device of the user that has an encryption key and could act on the login.
    /// There is none for any other event, and none once a phone has claimed the login or its time is over.
    public func messages(about event: AuditEvent) async throws(StoreError) -> [PushMessage] {
        guard event.kind == .loginRequested, let userID = event.userID, let id = event.sessionID,
            let login = try await context.store.phoneLogin(.id(id))
        else { return [] }
        let records = try await context.store.latestSessions(
            of: userID, limit: Self.lookMax, lookMax: Self.lookMax)
        var messages: [PushMessage] = []
        for record in records where messages.count < Self.devicesMax {
            if let message = message(about: login, to: record) { messages.append(message) }
        }
        return messages
    }

    /// The message about `login` to the device of a session; nil if the device has no encryption key, or could do nothing.
    public func message(about login: PhoneLogin, to record: SessionRecord) -> PushMessage? {
        let now = context.clock.now
        guard login.kind != .enrolment, login.state == .requested, now < login.inputUntil,
            let handle = login.request.handle, record.session.encryptionKey != nil
        else { return nil }
        let phone = context.policy.phone(of: record, at: now)
        guard phone.refusal == nil, !phone.isBarred else { return nil }
        let code = PhoneLoginCode(handle: handle, kind: .push)
        let content = PushMessage.Content(
            type: .login, iss: context.issuer, sid: record.session.id.description, loginID: login.id.description,
            login: context.loginCodes.link(code, base: context.url(""), at: now), iat: now.secondsSinceEpoch,
            exp: login.inputUntil.secondsSinceEpoch)
        return PushMessage(content, to: record.session, random: context.random)
    }
}
