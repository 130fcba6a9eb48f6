internal import Sessions

// Tokens of another system name their users by the usernames of that system.
extension Importer {
    /// The reason why a username of the file does not mean the user of the file.
    enum NameConflict {
        /// The name belongs to another user, so that the user of the file was refused.
        case taken
        /// The user was deleted in the store, or has another name there.
        case changed
    }

    /// Records the users of the file that have another name in the store, so that their tokens go to no other user.
    mutating func noteNames(of users: [User], _ outcomes: [ImportOutcome]) async throws(StoreError) {
        let doubtful = zip(users, outcomes).filter { $1 != .kept && !($1 == .written && isNew) }
        if doubtful.isEmpty { return }
        let ids = try await store.userIDs(named: Set(doubtful.map(\.0.username)))
        for (user, outcome) in doubtful where ids[user.username] != user.id {
            names[Text.key(user.username)] = outcome == .usernameTaken || outcome == .emailTaken ? .taken : .changed
        }
    }

    /// Resolves the usernames of foreign tokens, and adds the tokens.
    mutating func write(
        _ lines: [(line: Int, token: ForeignTokenLine)]
    ) async throws(StoreError) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        var tokens: [(line: Int, token: ForeignToken)] = []
        try await catchUp()
        let epoch = try await store.settings().epoch
        let clients = Set(try await store.clients().map(\.id))
        let users = try await users(of: lines.compactMap(\.token.username))
        for (line, entry) in lines {
            guard clients.contains(entry.token.clientID) else {
                if ledger.hasDeleted(clientID: entry.token.clientID) {
                    differingCount += 1
                } else {
                    refused.append((line, LineProblem("there is no client '\(entry.token.clientID)'")))
                }
                continue
            }
            switch entry.username.map({ users[$0] ?? .unknown }) ?? .here(entry.token.userID) {
            case .here(let user): tokens.append((line, entry.token.belonging(to: user, epoch: epoch)))
            case .changed: differingCount += 1
            case .taken:
                refused.append((line, LineProblem("the username '\(entry.username ?? "")' belongs to another user")))
            case .unknown: refused.append((line, LineProblem("there is no user '\(entry.username ?? "")'")))
            }
        }
        let owners = tokens.map(\.token.userID)
        let outcomes = try await store.importForeignTokens(tokens.map(\.token), try await mode(for: owners))
        return refused + note(try await judged(outcomes, of: owners), of: tokens.map { ($0.line, "the token") })
    }

    /// The user that a name in the file means.
    private enum Owner {
        case here(Identifier<User>)
        case changed, taken, unknown
    }

    private func users(of usernames: [String]) async throws(StoreError) -> [String: Owner] {
        let usernames = Set(usernames)
        let ids = try await store.userIDs(named: usernames)
        let deleted = try await deleted(usernames.map { User.importedID(username: $0) })
        var owners: [String: Owner] = [:]
        for name in usernames {
            let imported = User.importedID(username: name)
            switch names[Text.key(name)] {
            case _ where deleted.contains(imported): owners[name] = .changed
            case .changed: owners[name] = .changed
            case .taken: owners[name] = .taken
            case nil:
                if let id = ids[name] {
                    owners[name] = .here(id)
                } else if !replaces, try await store.user(.id(imported)) != nil {
                    // An import created the user under this name, which has changed since.
                    owners[name] = .changed
                }
            }
        }
        return owners
    }
}

extension ForeignToken {
    /// The token with its user, and an epoch that is not later than the store's.
    fileprivate func belonging(to user: Identifier<User>, epoch: Int64) -> ForeignToken {
        ForeignToken(
            digest: digest, userID: user, clientID: clientID, device: device, scope: scope, startedAt: startedAt,
            expiresAt: expiresAt, epoch: min(self.epoch, epoch), exchange: exchange)
    }
}
