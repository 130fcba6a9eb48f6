import SojournClient

/// Asks for the code of a sign-up. After a new start of the app the code that was asked for is still good.
func beginSignUp(_ sojourn: Sojourn, email: String) async throws -> Verification {
    if let begun = try await sojourn.verification(for: .signUp), begun.email == email { return begun }
    return try await sojourn.signUp(email: email)
}

/// Takes the code that the user has typed, and makes the account. Nil: the code is wrong, and another one can be typed.
func endSignUp(
    _ sojourn: Sojourn, _ verification: Verification, code: String, password: String
) async throws -> Account? {
    do {
        try await verification.confirm(code: code)
        return try await sojourn.finishSignUp(password: password)
    } catch .refused(let refusal) where refusal.code == "invalid_code" {
        return nil
    }
}

/// Sets a new password in place of a forgotten one. The user logs in with it then.
func resetPassword(_ sojourn: Sojourn, email: String, code: () async -> String, password: String) async throws {
    let verification = try await sojourn.requestPasswordReset(email: email)
    try await verification.confirm(code: await code())
    try await sojourn.resetPassword(to: password)
}

/// Logs a user in, and asks for the code of the authenticator app if the server does.
func login(
    _ sojourn: Sojourn, username: String, password: String, askForCode: ([SecondFactorLogin.Method]) async -> String
) async throws -> Account {
    do {
        return try await sojourn.signIn(username: username, password: password)
    } catch .secondFactorRequired(let login) {
        return try await login.confirm(code: await askForCode(login.methods))
    }
}

/// Adds an authenticator app. `show` shows the link or a picture of it, and returns the first code that the user types. The
/// recovery codes have to be shown at once: no call returns them again.
func addAuthenticator(
    _ sojourn: Sojourn, show: (_ uri: String, _ secret: String) async -> String
) async throws -> [String] {
    let added = try await sojourn.addAuthenticator(name: "My phone")
    return try await added.confirm(code: await show(added.uri, added.secret))
}
