import FoundationEssentials
import HTTP
import JSON

@testable import sojourn

/// One client of a server that is killed again and again: does one thing after the other to a user of its own, and
/// remembers what was acknowledged.
struct CrashWorker: Sendable {
    /// A stay on the device, with the last token that was acknowledged.
    struct Stay: Sendable {
        var id: String
        var token: String
        var access: String
        /// Nil while it lives.
        var endedReason: String?
    }

    enum Operation: Sendable {
        case logIn, refresh, logOut, disable, enable, rename, revoke, end, setting, link, unlink
    }

    let number: Int
    let username: String
    private(set) var isDisabled = false
    private(set) var displayName: String?
    /// The subjects that it is known by to a provider.
    private(set) var identities: Set<String> = []
    /// The setting that the first worker alone changes.
    private(set) var refreshAfter: Int?
    private(set) var stay: Stay?
    /// Earlier stays.
    private(set) var past: [Stay] = []
    /// What was asked last and not answered: it may have happened, or not.
    private(set) var pending: (operation: Operation, displayName: String, refreshAfter: Int, identity: String)?
    /// What contradicts a promise.
    private(set) var surprises: [String] = []

    init(_ number: Int) {
        self.number = number
        username = "user-\(number)"
    }

    private var path: String { "/users/username:\(username)" }

    /// Makes the user.
    func prepare(_ server: CrashServer) -> Bool {
        server.admin(.post, "/users", .object(["username": .string(username)]))?.status == 201
    }

    /// Does one thing. False: it was not answered.
    mutating func step(_ server: CrashServer) -> Bool {
        let operation = choose()
        let name = "\(username) \(UInt32.random(in: 0 ... .max))"
        let seconds = Int.random(in: 1...1_000_000)
        let identity = operation == .unlink ? identities.first ?? "" : "\(username).\(seconds)"
        pending = (operation, name, seconds, identity)
        guard let answer = ask(operation, name, seconds, identity, server) else { return false }
        pending = nil
        // Too busy: it has not happened.
        if answer.status == 503 { return true }
        if operation == .refresh, isDisabled {
            if answer.json["code"]?.string != "login_disabled_by_admin" { surprise(operation, answer) }
            return true
        }
        guard (200..<300).contains(answer.status) else {
            surprise(operation, answer)
            return true
        }
        if operation == .setting { refreshAfter = seconds }
        if operation == .link { identities.insert(identity) }
        if operation == .unlink { identities.remove(identity) }
        note(operation, name, answer)
        return true
    }

    private func choose() -> Operation {
        if isDisabled { return Bool.random() ? .enable : .refresh }
        guard stay?.endedReason == nil, stay != nil else { return .logIn }
        if number == 0, Int.random(in: 0..<3) == 0 { return .setting }
        let rare: [Operation] = [
            .logOut, .logIn, .disable, .rename, .revoke, .end, identities.count < 3 ? .link : .unlink,
        ]
        return Bool.random() ? .refresh : rare.randomElement() ?? .refresh
    }

    private func ask(
        _ operation: Operation, _ name: String, _ seconds: Int, _ identity: String, _ server: CrashServer
    ) -> CrashServer.Answer? {
        let token = stay?.token ?? ""
        let named: [String: JSONValue] = ["provider": .string("acme"), "subject": .string(identity)]
        return switch operation {
        case .logIn:
            server.admin(.post, path + "/sessions", .object(["device": .object(["id": .string("phone")])]))
        case .refresh: server.refresh(token)
        case .logOut: server.call(.post, "/v1/logout", .object(["refresh_token": .string(token)]))
        case .disable: server.admin(.post, path + "/disable", .object([:]))
        case .enable: server.admin(.post, path + "/enable", .object([:]))
        case .rename: server.admin(.patch, path, .object(["display_name": .string(name)]))
        case .revoke: server.admin(.post, path + "/revoke", .object([:]))
        case .end: server.admin(.delete, "/sessions/\(stay?.id ?? "")")
        case .setting: server.admin(.put, "/settings/sessions", .object(["refresh_after": .integer(Int64(seconds))]))
        case .link: server.admin(.put, path + "/identities", .object(named))
        case .unlink: server.admin(.delete, path + "/identities?provider=acme&subject=\(identity)")
        }
    }

    private mutating func note(_ operation: Operation, _ name: String, _ answer: CrashServer.Answer) {
        switch operation {
        case .logIn:
            if stay?.endedReason == nil { stay?.endedReason = "replaced" }
            bury()
            stay = Stay(
                id: answer.json["session_id"]?.string ?? "", token: answer.json["refresh_token"]?.string ?? "",
                access: answer.json["access_token"]?.string ?? "")
        case .refresh:
            stay?.token = answer.json["refresh_token"]?.string ?? ""
            stay?.access = answer.json["access_token"]?.string ?? ""
        case .logOut: stay?.endedReason = "logged_out"
        case .disable: isDisabled = true
        case .enable: isDisabled = false
        case .rename: displayName = name
        case .revoke, .end: stay?.endedReason = "revoked_by_admin"
        case .setting, .link, .unlink: break
        }
    }

    private mutating func bury() {
        if let stay { past = past.suffix(9) + [stay] }
    }

    private mutating func surprise(_ operation: Operation, _ answer: CrashServer.Answer) {
        surprises.append("\(username) \(operation): \(answer.status) \(answer.json)")
    }

    /// After a restart: what was acknowledged must stand, and the feed, which was read before, must tell of it; of what was not
    /// answered, either outcome is taken over.
    mutating func verify(_ server: CrashServer, _ feed: CrashFeed) {
        guard let user = server.admin(.get, path), user.status == 200 else {
            surprises.append("\(username) is gone")
            return
        }
        let isDisabledNow = user.json["login_disabled_by_admin"] != nil
        if isDisabledNow != isDisabled, pending?.operation != .disable, pending?.operation != .enable {
            surprises.append("\(username): disabled is \(isDisabledNow), acknowledged was \(isDisabled)")
        }
        isDisabled = isDisabledNow
        let name = user.json["display_name"]?.string
        if name != displayName, pending?.operation != .rename || name != pending?.displayName {
            surprises.append("\(username): display_name is not the one that was acknowledged")
        }
        displayName = name
        let userID = user.json["user_id"]?.string ?? ""
        if feed.blocked.contains(userID) != isDisabled {
            surprises.append("\(username): disabled is \(isDisabled), and the feed says something else")
        }
        verifyIdentities(server)
        if number == 0 { verifySetting(server) }
        for old in past {
            expect(old, ended: old.endedReason, server)
            expect(feed, tells: old)
        }
        guard var stay else { return }
        let session = server.admin(.get, "/sessions/\(stay.id)")
        let reason = session?.json["ended_reason"]?.string
        let possible: [String?] =
            switch pending?.operation {
            case .logOut: [stay.endedReason, "logged_out"]
            case .revoke, .end: [stay.endedReason, "revoked_by_admin"]
            case .logIn: [stay.endedReason, stay.endedReason ?? "replaced"]
            default: [stay.endedReason]
            }
        if session?.status != 200 || !possible.contains(reason) {
            surprises.append("\(username): ended as \(reason ?? "-"), acknowledged was \(stay.endedReason ?? "-")")
        }
        stay.endedReason = reason
        expect(stay, ended: reason, server)
        expect(feed, tells: stay)
        self.stay = stay
        pending = nil
        // The check above has refreshed with the last token, and its answer was not kept: as if it had been lost.
    }

    private mutating func verifyIdentities(_ server: CrashServer) {
        let answer = server.admin(.get, path + "/identities")
        let found = Set(answer?.json["items"]?.elements.compactMap { $0["subject"]?.string } ?? [])
        var possible = [identities]
        if let pending, pending.operation == .link { possible.append(identities.union([pending.identity])) }
        if let pending, pending.operation == .unlink { possible.append(identities.subtracting([pending.identity])) }
        if !possible.contains(found) {
            surprises.append("\(username): known as \(found), acknowledged was \(identities)")
        }
        identities = found
    }

    /// The end of a stay is told once and for its reason; of one that lives, nothing is told.
    private mutating func expect(_ feed: CrashFeed, tells stay: Stay) {
        let told = feed.endings[stay.id] ?? []
        if told != [stay.endedReason].compactMap(\.self) {
            surprises.append("\(username): the feed tells \(told), not \(stay.endedReason ?? "nothing")")
        }
    }

    private mutating func verifySetting(_ server: CrashServer) {
        let answer = server.admin(.get, "/settings/sessions")
        let seconds = answer?.json["refresh_after"]?.integer.map(Int.init)
        let isPending = pending?.operation == .setting && seconds == pending?.refreshAfter
        if let refreshAfter, seconds != refreshAfter, !isPending {
            surprises.append("refresh_after is \(seconds ?? 0), acknowledged was \(refreshAfter)")
        }
        refreshAfter = seconds
    }

    /// The last acknowledged tokens of a stay work, or are refused for the right reason.
    private mutating func expect(_ stay: Stay, ended reason: String?, _ server: CrashServer) {
        let code = reason ?? (isDisabled ? "login_disabled_by_admin" : nil)
        let refresh = server.refresh(stay.token)
        let verified = server.call(.get, "/v1/verify", bearer: stay.access)
        if refresh?.status != (code == nil ? 200 : 401) || refresh?.json["code"]?.string != code {
            surprises.append("\(username): refresh came to \(refresh?.json ?? .null), not \(code ?? "tokens")")
        }
        if verified?.status != (code == nil ? 200 : 401) {
            surprises.append("\(username): the rolling token came to \(verified?.status ?? 0), \(code ?? "lives")")
        }
    }
}
