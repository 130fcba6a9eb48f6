// Logins on the page with the help of a phone.

/// The completion of an authorization request that a phone has approved, inside a transaction.
public struct PhoneLoginOnPage: Sendable {
    /// The login and its phone.
    public var change: PhoneLoginChange
    /// The completion: set `approval.login` to write the code. Nil before an account is chosen.
    public var approval: PageLoginCompletion?
}

extension Store {
    /// Lets `decide` complete the authorization request of a login. Nil if there is no such login.
    ///
    /// - Parameters:
    ///   - token: the one-time token of a pushed request.
    ///   - browserID: the session that the browser has shown.
    public func collectOnPage<Outcome: Sendable>(
        _ id: Identifier<Session>, using token: OneTimeToken?, browser browserID: Identifier<Session>?,
        by origin: Origin,
        _ decide: @escaping @Sendable (inout PhoneLoginOnPage) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) -> Outcome? in
            guard let known = try transaction.phoneLogin(.id(id)).value() else { return nil }
            let user = try known.userID.map { transaction.userForUpdate(.id($0)) }?.value() ?? nil
            let browser = try browserID.map { transaction.sessionForUpdate($0) }?.value() ?? nil
            guard let change = try transaction.change(of: known, phone: nil) else { return nil }
            if change.login.userID != known.userID { throw .overtaken }
            let isSpent = try token.map { transaction.isUsed($0) }?.value() ?? false
            let current = try transaction.catalogue().value()
            let policy = change.settings.secondFactorPolicy(for: change.client)
            let enrolled = try user.map { (user) throws(TransactionError) in
                try transaction.enrolledFactors(of: user.id, under: policy)
            }
            var collection = PhoneLoginOnPage(
                change: change,
                approval: user.map { user in
                    PageLoginCompletion(
                        user: user, arrival: .known, isReplay: false, isRequestSpent: isSpent, answered: nil,
                        client: change.client, settings: change.settings,
                        browserClient: current.clients[Client.browserID], browser: browser,
                        factors: enrolled ?? EnrolledFactors(details: UserDetails(userID: user.id)))
                })
            if let browser {
                collection.approval?.browserPhone = try transaction.phoneState(of: browser, current)
                collection.approval?.browserPhones = try transaction.browserPhones(of: browser, current)
            }
            let outcome = decide(&collection)
            var events = try transaction.write(collection.change, over: change.login, by: origin)
            if let approval = collection.approval {
                events += approval.events
                if let login = approval.login {
                    if let token, try !transaction.insert(token).value() { throw .overtaken }
                    transaction.insert(login)
                }
                try transaction.writeBrowser(of: approval)
            }
            transaction.append(events, current)
            return outcome
        }
    }
}
