import Foundation
import SojournClient

/// The commands for the login of another device. There is one at a time.
extension Phone {
    /// Carries out such a command; nil: it is another one.
    func carryOutLogin(_ command: [String: JSONValue], _ sojourn: Sojourn) async throws -> [String: JSONValue]? {
        switch command.text("do") ?? "" {
        case "scan":
            let session = try await sojourn.startSession(scanned: command.text("text") ?? "")
            login = session
            for await status in session.statuses where status.state != .starting { break }
            return Self.describe(session)
        case "link":
            guard let url = command.text("text").flatMap({ URL(string: $0) }) else {
                return ["error": .string("no link")]
            }
            let session = try await sojourn.startSession(link: url)
            login = session
            for await status in session.statuses where status.state != .starting { break }
            return Self.describe(session)
        case "register-pushes":
            try await sojourn.registerForPushes()
            return [:]
        case "push":
            guard let session = try await sojourn.startSession(push: try Self.message(command)) else {
                return ["error": .string("another kind of message")]
            }
            login = session
            for await status in session.statuses where status.state != .starting { break }
            return Self.describe(session)
        case "confirm":
            return try await act { try await $0.confirm(number: command.integer("number").map { Int($0) }) }
        case "prove":
            return try await act { try await $0.enterSecondFactor(password: command.text("password") ?? "") }
        case "deny": return try await act { try await $0.stopSession() }
        case "enrol": return try await enrol(sojourn, command)
        case "login-state": return try await act { _ in }
        default: return nil
        }
    }

    /// Follows an invitation, agrees, and gives the password.
    private func enrol(_ sojourn: Sojourn, _ command: [String: JSONValue]) async throws -> [String: JSONValue] {
        let session = try await sojourn.startSession(scanned: command.text("code") ?? "")
        for await event in session.events {
            switch event {
            case .confirmEnrol: try await session.confirm()
            case .secondFactor(let factor) where factor.result == .requested:
                try await session.enrol(
                    password: command.text("password") ?? "", username: command.text("username"))
            default: break
            }
        }
        return ["status": .string(session.status.description)].merging(Self.describe(sojourn.state)) { $1 }
    }

    /// The pushed message of a command: its `text`, or the content of its `file`.
    private static func message(_ command: [String: JSONValue]) throws -> Data {
        if let path = command.text("file") { return try Data(contentsOf: URL(fileURLWithPath: path)) }
        return Data((command.text("text") ?? "").utf8)
    }

    private func act(_ body: (LoginSession) async throws -> Void) async throws -> [String: JSONValue] {
        guard let login else { return ["error": .string("no login")] }
        try await body(login)
        return Self.describe(login)
    }

    private static func describe(_ login: LoginSession) -> [String: JSONValue] {
        let (status, details) = (login.status, login.details)
        var members: [String: JSONValue] = [
            "state": .string(status.state.rawValue), "history": .string(status.history.rawValue),
        ]
        members.set("input", status.input?.rawValue)
        members.set("cause", status.cause)
        members.set("login", details?.id)
        members.set("return_url", details?.returnURL?.absoluteString)
        return members
    }
}
