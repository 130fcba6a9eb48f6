import Sessions
import Testing

/// What an import finds in the feed already, and what is not so where it comes.
@Suite struct RevocationSummaryTests {
    private static let (anna, phone) = (Identifier<User>(words: (1, 1)), Identifier<Session>(words: (2, 2)))

    private static func revocation(
        _ kind: Revocation.Kind, at: Int64 = 10, until: Int64 = 100, session: Identifier<Session>? = nil,
        user: Identifier<User>? = nil, client: String? = nil
    ) -> Revocation {
        Revocation(
            number: 1, kind, at: Instant(secondsSinceEpoch: at), until: Instant(secondsSinceEpoch: until),
            userID: user, sessionID: session, clientID: client)
    }

    private static func summary(_ revocations: Revocation...) -> RevocationSummary {
        var summary = RevocationSummary()
        for revocation in revocations { summary.note(revocation) }
        return summary
    }

    @Test func aFeedSaysWhatItHasSaid_andAnEmptyOneNothing() {
        for kind in Revocation.Kind.allCases {
            let revocation = Self.revocation(kind, session: Self.phone, user: Self.anna, client: "mobile")
            #expect(Self.summary(revocation).says(revocation))
            // A user that was never blocked need not be let in again.
            #expect(Self.summary().says(revocation) == (kind == .userUnblocked))
        }
    }

    @Test func theLastWordAboutAUserCounts() {
        let blocked = Self.revocation(.userBlocked, user: Self.anna)
        let unblocked = Self.revocation(.userUnblocked, user: Self.anna)
        #expect(!Self.summary(blocked).says(unblocked))
        #expect(!Self.summary(blocked, unblocked).says(blocked))
        #expect(Self.summary(blocked, unblocked).says(unblocked))
        #expect(!Self.summary(blocked).says(Self.revocation(.userDeleted, user: Self.anna)))
        // A user that is back after a deletion is not blocked by what was before it.
        let deleted = Self.revocation(.userDeleted, user: Self.anna)
        #expect(Self.summary(blocked, deleted).says(deleted) && !Self.summary(blocked, deleted).says(blocked))
        #expect(!Self.summary(deleted, blocked).says(deleted))
        #expect(!Self.summary(blocked).says(Self.revocation(.userBlocked, user: Identifier(words: (3, 3)))))
    }

    @Test func whatMattersLongerOrReachesFurtherIsNew() {
        for kind in Revocation.Kind.allCases where kind != .userUnblocked {
            let summary = Self.summary(Self.revocation(kind, session: Self.phone, user: Self.anna, client: "mobile"))
            let longer = Self.revocation(kind, until: 101, session: Self.phone, user: Self.anna, client: "mobile")
            #expect(!summary.says(longer))
            let hasCutoff = [.userDeleted, .clientDeleted, .allSessionsEnded, .lifetimesShortened].contains(kind)
            let later = Self.revocation(kind, at: 11, session: Self.phone, user: Self.anna, client: "mobile")
            #expect(summary.says(later) == !hasCutoff)
        }
    }

    @Test func endsOfClientTokensReachAsFarAsTheirEpoch_andEachTokenIsAlone() {
        func ended(_ epoch: Int64, client: String? = "web") -> Revocation {
            var revocation = Self.revocation(.clientTokensEnded, client: client)
            revocation.tokenEpoch = epoch
            return revocation
        }
        func revoked(_ id: String) -> Revocation {
            var revocation = Self.revocation(.clientTokenRevoked, client: "web")
            revocation.tokenID = id
            return revocation
        }
        #expect(Self.summary(ended(5)).says(ended(4)) && Self.summary(ended(5)).says(ended(5)))
        #expect(!Self.summary(ended(5)).says(ended(6)))
        #expect(!Self.summary(ended(5)).says(ended(5, client: nil)) && !Self.summary(ended(5)).says(revoked("a")))
        #expect(Self.summary(revoked("a")).says(revoked("a")) && !Self.summary(revoked("a")).says(revoked("b")))
        #expect(!Self.summary(revoked("a")).says(ended(1)))
    }

    /// As when two databases had their lives shortened by different amounts.
    @Test func tokensOfBeforeAddUp_noneTakesAnotherBack() {
        let (late, long) = (
            Self.revocation(.allSessionsEnded, at: 30, until: 60),
            Self.revocation(.lifetimesShortened, at: 20, until: 100)
        )
        for summary in [Self.summary(late, long), Self.summary(long, late)] {
            #expect(summary.says(late) && summary.says(long))
            // Tokens of between are good again from 60 on, as far as the feed has said.
            #expect(!summary.says(Self.revocation(.lifetimesShortened, at: 30, until: 100)))
        }
    }

    @Test func tokensOfBeforeAreOfAllOfAClientOrOfAUser() {
        let all = Self.revocation(.lifetimesShortened)
        let ofUser = Self.revocation(.lifetimesShortened, user: Self.anna)
        let ofClient = Self.revocation(.lifetimesShortened, client: "mobile")
        #expect(!Self.summary(ofUser, ofClient).says(all))
        #expect(!Self.summary(ofClient).says(ofUser) && !Self.summary(ofUser).says(ofClient))
        #expect(!Self.summary(Self.revocation(.userBlocked, user: Self.anna)).says(ofUser))
        // Which of them it was does not matter to a follower.
        #expect(Self.summary(all).says(Self.revocation(.allSessionsEnded)))
        #expect(Self.summary(ofClient).says(Self.revocation(.clientDeleted, client: "mobile")))
    }
}
