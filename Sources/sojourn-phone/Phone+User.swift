import Foundation
import SojournClient
import SojournTestKit

/// The commands for modes, biometry and passkeys.
extension Phone {
    /// Carries out such a command; nil: it is another one.
    func carryOutForUser(_ command: [String: JSONValue], _ app: App) async throws -> [String: JSONValue]? {
        let sojourn = app.sojourn
        switch command.text("do") ?? "" {
        // A login of another device is approved here, and not asked for.
        case "capabilities": return ["lacks": .array([.string("phone-asking")])]
        case "presence":
            if command["enrolled"]?.bool == true { try app.gate.changeEnrollment() }
            return ["prompts": .integer(screen.obey(command))]
        case "mode":
            guard let mode = command.text("to").flatMap(AuthenticationMode.init) else {
                return ["error": .string("no such mode")]
            }
            try await sojourn.switchMode(to: mode, password: command.text("password"))
            return [:]
        case "unlock":
            if let password = command.text("password") {
                try await sojourn.unlock(password: password)
            } else {
                try await sojourn.unlock()
            }
            return [:]
        case "lock":
            await sojourn.lock()
            return [:]
        case "add-passkey":
            let passkey = try await sojourn.addPasskey(by: app.passkeys, name: command.text("name"))
            return ["passkey": .string(passkey.id)]
        case "login-passkey":
            let account = try await sojourn.signIn(passkey: app.passkeys, mode: Self.mode(command))
            return ["user": .string(account.username ?? account.userID)]
        case "show-presence":
            try await sojourn.showPresence(passkey: app.passkeys)
            return [:]
        default: return nil
        }
    }

    /// The mode of a login.
    static func mode(_ command: [String: JSONValue]) -> AuthenticationMode {
        command.text("mode").flatMap(AuthenticationMode.init) ?? .no
    }
}
