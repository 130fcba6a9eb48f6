// The requests and writes about logins on the server's page. None of them holds a rule of the domain.

/// The requests about logins on the page.
public protocol PageLoginReader {
    /// The login with that id.
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?>

    /// The login with the code of that hash.
    func login(code hash: [UInt8]) -> Answer<PageLogin?>

    /// The logins on the page with sessions that belong to that session of a browser.
    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that have continued that session by their codes, in the order of their ids.
    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that the session of a browser has answered by that login with a phone.
    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]>

    /// Every login on the page that no phone let in, in the order of their ids.
    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]>

    /// The logins of those sessions with which the client may have got an ID token: those on the page, and those with a phone but
    /// enrolments.
    func idTokenLogins(of sessions: [Identifier<Session>]) -> Answer<[LoginReference]>
}

/// The requests and writes about logins on the page inside a transaction.
public protocol PageLoginTransaction: PageLoginReader {
    /// The login with that id, for update.
    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?>

    /// Adds a login.
    func insert(_ login: PageLogin)

    /// Writes the code of a login, and no other field.
    func update(_ login: PageLogin)

    /// Cancels the codes of a user that were not exchanged and match the client of `ending`. Does nothing for an ending of one
    /// device, because a code has none.
    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions)

    /// Looks at up to `limit` logins that were completed before `instant`, the oldest first, and deletes those that nothing needs.
    /// A login stays as long as it has a browser session and its own session has no end, or a client with logout tokens can still
    /// be told of it; it is looked at again when its session may be over.
    func sweepPageLogins(before instant: Instant, limit: Int) -> Answer<RowSweep>
}
