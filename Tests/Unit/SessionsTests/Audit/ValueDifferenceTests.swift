import Cryptography
import JSON
import Testing

@testable import Sessions

/// What the audit trail says of a change of a user.
@Suite struct ValueDifferenceTests {
    private static let plain = User(
        id: Identifier(random: .system), username: "anna", createdAt: Instant(secondsSinceEpoch: 0))

    private static func user(_ edit: (inout User) -> Void) -> User {
        var user = plain
        edit(&user)
        return user
    }

    @Test("the old and the new value of each member, and of no other")
    func membersThatDiffer() throws {
        let new = Self.user { user in
            user.profile.country = "AT"
            user.offlineSessionMax = .seconds(60)
        }
        let difference = try #require(ValueDifference(from: Self.plain, to: new))
        #expect(difference.reason == #"{"country":[null,"AT"],"offline_session_max":[null,60]}"#)
        #expect(ValueDifference(reason: try #require(difference.reason)) == difference)
        #expect(ValueDifference(from: new, to: new) == nil)
        // The address has an event of its own.
        #expect(ValueDifference(from: Self.plain, to: Self.user { $0.profile.email = "a@example.org" }) == nil)
    }

    @Test("a reason of another form is none", arguments: ["", "import", "{}", "{\"a\":1}", "{\"a\":[1]}", "[1,2]"])
    func otherReasons(_ reason: String) { #expect(ValueDifference(reason: reason) == nil) }
}
