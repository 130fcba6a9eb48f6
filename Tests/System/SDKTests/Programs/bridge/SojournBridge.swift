import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The ten calls of an app in another language. Renewals, keys and prompts stay native, with one owner.
@MainActor
final class SojournBridge {
    private let sojourn: Sojourn
    private let openPage: (URL) -> Void

    init(_ sojourn: Sojourn, openPage: @escaping (URL) -> Void, onState: @escaping ([String: String]) -> Void) {
        self.sojourn = sojourn
        self.openPage = openPage
        Task {
            for await state in sojourn.states { onState(Self.members(state)) }
        }
    }

    /// The result, or members with `error`.
    func call(_ name: String, _ words: [String: Any]) async -> [String: Any] {
        do throws(SojournError) {
            return try await result(name, words)
        } catch {
            return Self.failure(error)
        }
    }

    private func result(_ name: String, _ words: [String: Any]) async throws(SojournError) -> [String: Any] {
        func word(_ key: String) -> String { words[key] as? String ?? "" }
        switch name {
        case "start": return Self.members(await sojourn.start())
        case "state": break
        case "signIn":
            guard let mode = AuthenticationMode(rawValue: words["mode"] as? String ?? "NO") else {
                return ["error": "misconfigured", "detail": "mode"]
            }
            _ = try await sojourn.signIn(username: word("username"), password: word("password"), mode: mode)
        case "signInByPage":
            // The page comes back with a URL to the app, perhaps in a new process.
            if let callback = URL(string: word("callback")) {
                _ = try await sojourn.signIn(callback: callback)
            } else if let redirect = URL(string: word("redirectURI")) {
                openPage(try await sojourn.beginSignIn(LoginPage(redirectURI: redirect)))
            }
        case "accessToken":
            let token = try await sojourn.accessToken(word("need") == "fresh" ? .fresh : .usable)
            return ["value": token.value, "type": token.type, "expiresAt": token.expiresAt]
        case "authorize":
            guard let url = URL(string: word("url")) else { return ["error": "misconfigured"] }
            var request = URLRequest(url: url)
            request.httpMethod = word("method")
            return try await sojourn.authorize(request).allHTTPHeaderFields ?? [:]
        case "reject":
            let expiresAt = (words["expiresAt"] as? NSNumber)?.int64Value ?? 0
            await sojourn.reject(AccessToken(value: word("value"), type: word("type"), expiresAt: expiresAt))
        case "signOut": await sojourn.signOut()
        case "unlock":
            if let password = words["password"] as? String {
                _ = try await sojourn.unlock(password: password)
            } else {
                try await sojourn.unlock()
            }
        case "settle":
            let seconds = (words["seconds"] as? NSNumber)?.doubleValue ?? 5
            return ["isSettled": await sojourn.settle(within: .seconds(seconds))]
        default: return ["error": "misconfigured", "detail": "no call \(name)"]
        }
        return Self.members(sojourn.state)
    }

    private static func members(_ state: SessionState) -> [String: String] {
        switch state {
        case .starting: ["kind": "starting"]
        case .locked: ["kind": "locked"]
        case .storeFailed: ["kind": "storeFailed"]
        case .signedOut(let why): ["kind": "signedOut", "why": "\(why)"]
        case .signedIn(let account, _): ["kind": "signedIn", "username": account.username ?? ""]
        case .presenceRequired(_, let account): ["kind": "presenceRequired", "username": account.username ?? ""]
        case .ended(let reason, let account, _):
            ["kind": "ended", "reason": reason.rawValue, "username": account.username ?? ""]
        }
    }

    private static func failure(_ error: SojournError) -> [String: Any] {
        switch error {
        case .notSignedIn: ["error": "notSignedIn"]
        case .ended(let reason): ["error": "ended", "reason": reason.rawValue]
        case .suspended(let suspension): ["error": "suspended", "reason": "\(suspension)"]
        case .presenceRequired: ["error": "presenceRequired"]
        case .presence(let failure): ["error": "presence", "code": failure.error.errorCode]
        case .refused(let refusal): ["error": "refused", "reason": refusal.code]
        case .unreachable: ["error": "unreachable"]
        case .locked: ["error": "locked"]
        case .cancelled: ["error": "cancelled"]
        case .secondFactorRequired: ["error": "secondFactorRequired"]
        case .store, .key: ["error": "store", "detail": "\(error)"]
        case .misconfigured(let word, _): ["error": "misconfigured", "detail": word]
        }
    }
}
