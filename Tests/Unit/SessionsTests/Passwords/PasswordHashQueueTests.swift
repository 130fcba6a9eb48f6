import Testing

@testable import Sessions

/// Whose password is hashed next, and for whom there is room.
@Suite struct PasswordHashQueueTests {
    private static let anna = Identifier<User>(words: (1, 1))
    private static let bert = Identifier<User>(words: (2, 2))

    /// One where so many of each kind wait, each with the name of its room.
    private func waiting(ofUsers: Int, ofAnybody: Int) -> PasswordHashQueue<String> {
        var turns = PasswordHashQueue<String>(pendingMax: 64)
        for number in 0..<ofAnybody { turns.append("login \(number)", of: .anonymous) }
        for number in 0..<ofUsers { turns.append("user \(number)", of: .user(Self.anna)) }
        return turns
    }

    private func order(_ turns: PasswordHashQueue<String>) -> [String] {
        var turns = turns
        var order: [String] = []
        while let (name, room) = turns.next() {
            turns.taken(by: room)
            order.append(name)
        }
        return order
    }

    @Test func whoHoldsASecretGoesFirst_andLoginsHaveTheirTurn() {
        #expect(
            order(waiting(ofUsers: 7, ofAnybody: 3)) == [
                "user 0", "user 1", "user 2", "login 0", "user 3", "user 4", "user 5", "login 1", "user 6", "login 2",
            ])
        #expect(order(waiting(ofUsers: 0, ofAnybody: 2)) == ["login 0", "login 1"])
        #expect(order(waiting(ofUsers: 5, ofAnybody: 0)) == (0..<5).map { "user \($0)" })
    }

    /// What came too late to its turn has none: else logins could wait behind those that nobody hashes.
    /// What came too late to its turn has none: else logins could wait behind those that nobody hashes.
    @Test func whatComesTooLateTakesNoTurn() {
        var turns = waiting(ofUsers: 4, ofAnybody: 2)
        // All of a user's are too late, but for the last one.
        var order: [String] = []
        while let (name, room) = turns.next() {
            if room == .anonymous || name == "user 3" { turns.taken(by: room) }
            order.append(name)
        }
        #expect(order == ["user 0", "user 1", "user 2", "user 3", "login 0", "login 1"])
    }

    @Test func aFloodOfOneKindLeavesRoomForTheOther() {
        var turns = PasswordHashQueue<String>(pendingMax: 8)
        func admitted(_ sender: PasswordHasher.Requester, of count: Int) -> Int {
            (0..<count).count { _ in turns.admit(sender) }
        }
        let ofAnybody = admitted(.anonymous, of: 9)
        #expect(ofAnybody == 8)
        // Not even the right password, sent again and again, fills it.
        let ofAnna = admitted(.user(Self.anna), of: 9)
        let ofBert = admitted(.user(Self.bert), of: 9)
        #expect(ofAnna == 4 && ofBert == 4)
        turns.leave(.user(Self.anna))
        let again = admitted(.user(Self.anna), of: 2)
        #expect(again == 1)
        let ofOthers = admitted(.user(Identifier(words: (3, 3))), of: 1) + admitted(.anonymous, of: 1)
        #expect(ofOthers == 0)
        #expect(turns.pending(.users) == 8 && turns.pending(.anonymous) == 8)
        turns.leave(.anonymous)
        let login = admitted(.anonymous, of: 2)
        #expect(login == 1)
    }
}
