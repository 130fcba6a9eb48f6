import SojournClient
import SojournTestKit
import Testing

extension Phone {
    /// A phone of a server that sends mails, where strangers make accounts. `anna` has the mailbox `anna@example.org`.
    static func mailed(
        signedIn: Bool = false, _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) async throws -> Phone {
        let phone = try await signedIn ? Phone.signedIn(edit) : Phone.new(edit)
        phone.server.setMails(true)
        try await phone.server.change(ClientSettings(takesSignUps: true))
        try await phone.server.setVerifiedEmail("anna@example.org", of: "anna")
        return phone
    }

    /// The code of the last mail to a mailbox.
    func code(to email: String) throws -> String {
        try #require(server.mails(to: email).last?.code)
    }

    /// Lets `anna` be signed in with an authenticator app. Returns its secret and her recovery codes.
    func addAuthenticator() async throws -> (secret: String, codes: [String]) {
        let added = try await sojourn.addAuthenticator(name: "Phone")
        let codes = try await added.confirm(code: server.code(ofAuthenticator: added.secret))
        // The next code is another one.
        try await server.letPass(.seconds(30))
        return (added.secret, codes)
    }

    /// The next code of an authenticator app, which no request has used.
    func nextCode(of secret: String) async throws -> String {
        try await server.letPass(.seconds(30))
        return server.code(ofAuthenticator: secret)
    }
}

/// The word of a refusal; another error as it prints.
func word(of error: SojournError?) -> String? {
    if case .refused(let refusal)? = error { refusal.code } else { error.map { "\($0)" } }
}

/// The error of a call that has to fail.
func failure<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> Value
) async -> SojournError? {
    do {
        _ = try await call()
        Issue.record("it succeeds", sourceLocation: sourceLocation)
        return nil
    } catch {
        let known = error as? SojournError
        if known == nil { Issue.record("\(error)", sourceLocation: sourceLocation) }
        return known
    }
}

/// The login that an error lets continue.
func second(of error: SojournError?) throws -> SecondFactorLogin {
    guard case .secondFactorRequired(let login)? = error else {
        throw error ?? SojournError.cancelled
    }
    return login
}
