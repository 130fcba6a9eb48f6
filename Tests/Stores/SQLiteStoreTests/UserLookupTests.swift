import StoreFoundation
import Testing

@testable import SQLiteStore

/// How users are found, among however many.
@Suite struct UserLookupTests {
    /// The user that an address means is looked up by two indexes, and no other row is read.
    @Test func theUserOfAnAddress_isFoundByIndexes() async throws {
        let plan = try await UserRow.selectMeant.plan("x", "x", 8)
        #expect(plan.contains { $0.contains("users_mailbox (verified_email_key=?)") }, "\(plan)")
        #expect(plan.contains { $0.contains("(username_key=?)") }, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN") }, "\(plan)")
    }

    @Test("Users with a telephone number are found by its index") func phoneNumbers() async throws {
        let plan = try await UserRow.selectByPhoneNumber.plan("1", "2", 8)
        #expect(plan.count == 1 && plan[0].contains("users_phone_number (phone_number=?)"), "\(plan)")
    }

    /// Clean-up reads no user but the anonymous ones, and sorts none.
    @Test func anonymousUsers_areFoundByTheirIndex() async throws {
        let plan = try await UserRow.selectAnonymous.plan([UInt8](), 8)
        #expect(plan.count == 1 && plan[0].contains("users_anonymous (id>?)"), "\(plan)")
    }
}
