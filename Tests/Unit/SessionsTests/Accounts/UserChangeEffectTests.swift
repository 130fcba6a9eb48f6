import Sessions
import Testing

/// What a change of a user comes to, in every store.
@Suite struct UserChangeEffectTests {
    private static let user = User(
        id: Identifier(words: (1, 1)), username: "Mary", createdAt: Instant(secondsSinceEpoch: 10))
    private static let now = Instant(secondsSinceEpoch: 100)

    private static func effect(_ edit: (inout UserChange) -> Void) -> UserChange.Effect {
        var change = UserChange(user: user, settings: Settings(), clients: [])
        edit(&change)
        return change.effect(on: user, now: now)
    }

    @Test func whatDoesNotDifferIsNotWritten() {
        let effect = Self.effect { _ in }
        #expect(effect.written == nil && effect.endings.isEmpty && !effect.deletes)
        #expect(!effect.isRefused(by: Identifier(words: (2, 2))))
    }

    @Test func theNameOfAnotherUserIsRefusedAndTheOwnIsNot() {
        let effect = Self.effect { $0.user.username = "mary" }
        #expect(effect.written?.username == "mary")
        #expect(effect.isRefused(by: Identifier(words: (2, 2))))
        #expect(!effect.isRefused(by: Self.user.id) && !effect.isRefused(by: nil))
    }

    @Test func aDeletedUserIsNotWrittenAndEndsEverySession() {
        let effect = Self.effect {
            $0.user.username = "Anna"
            $0.deletes = true
        }
        #expect(effect.written == nil && effect.deletes)
        #expect(effect.endings == [UserChange.EndingSessions(.userDeleted, at: Self.now)])
    }

    @Test func aReasonOfItsOwnComesBeforeTheDeletion() {
        let own = UserChange.EndingSessions(.revokedByAdmin, at: Instant(secondsSinceEpoch: 90))
        let effect = Self.effect {
            $0.ending = own
            $0.deletes = true
        }
        #expect(effect.endings == [own, UserChange.EndingSessions(.userDeleted, at: own.at)])
    }
}
