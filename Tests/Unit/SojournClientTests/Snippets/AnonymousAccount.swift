import SojournClient

/// Lets a new user in without a form.
func letIn(_ sojourn: Sojourn) async throws -> Account {
    try await sojourn.signInAnonymously()
}

/// Gives the user a name, once the user wants one. The ID and the session remain.
func register(_ sojourn: Sojourn, username: String, password: String) async throws -> String? {
    do {
        let account = try await sojourn.nameAccount(username: username, password: password)
        return account.username
    } catch .refused(let refusal) where refusal.code == "username_taken" {
        return nil
    }
}
