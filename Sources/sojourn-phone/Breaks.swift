import Foundation
import SojournClient

/// A rule that this app breaks on purpose, so that a test sees the scenarios of the rule fail. The SDK itself keeps every rule: the app
/// around it does what an app of its own would do wrong.
enum Break: String, CaseIterable, Sendable {
    /// Each act about the login of another device has a random Idempotency-Key.
    case actKeys = "act-keys"
    /// A renewal after a prompt does not bring the signature of the presence key.
    case unsignedPresence = "unsigned-presence"
    /// The app keeps a copy of its access token beside the record.
    case tokenCopy = "token-copy"
    /// Other biometry logs the user out.
    case enrollmentLogout = "enrollment-logout"
    /// The app does not know that it is in the background.
    case backgroundPrompts = "background-prompts"
    /// A prompt that was not confirmed is shown again at once.
    case repeatedPrompts = "repeated-prompts"
    /// A demand of the server prompts when the app comes to the foreground.
    case startPrompts = "start-prompts"
}

/// A transport that changes requests on their way.
struct BreakingTransport: Transport {
    let base: any Transport
    let broken: Break?

    func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        var request = request
        switch broken {
        case .actKeys where request.url.path.hasPrefix("/v1/me/logins"):
            request.fields.removeAll { $0.name == "Idempotency-Key" }
            request.fields.append(HTTPMessageField("Idempotency-Key", UUID().uuidString))
        case .unsignedPresence where request.url.path == "/oauth/token":
            let parameters = String(decoding: request.body, as: UTF8.self).split(separator: "&")
            request.body = Array(parameters.filter { !$0.hasPrefix("user_assertion=") }.joined(separator: "&").utf8)
        default: break
        }
        return try await base.send(request, within: limit)
    }
}

extension Phone {
    /// What the broken app does after a command, before the answer.
    func breakRule(
        after command: [String: JSONValue], _ app: App, _ answer: [String: JSONValue]
    ) async -> [String: JSONValue] {
        let verb = command.text("do") ?? ""
        switch broken {
        case .tokenCopy where verb == "token":
            guard let token = answer.text("token") else { return answer }
            try? Data(token.utf8).write(to: app.folder.appendingPathComponent("token"))
        case .enrollmentLogout where answer.text("reason") == Self.enrollmentChanged: await app.sojourn.signOut()
        case .repeatedPrompts where verb == "unlock" && answer.text("error") == "presence":
            return await carryOut(["do": .string("unlock")], app)
        case .startPrompts where verb == "start" && answer.text("state") == "presence-required":
            guard app.hasLoggedIn else { return answer }
            return await carryOut(["do": .string("unlock")], app)
        default: break
        }
        return answer
    }
}
