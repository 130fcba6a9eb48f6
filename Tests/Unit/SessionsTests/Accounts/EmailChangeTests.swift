import Sessions
import Testing

/// What the audit trail keeps of an address that changed.
@Suite struct EmailChangeTests {
    private static func change(_ old: String?, _ new: String?) -> EmailChange? {
        EmailChange(from: User.Profile(email: old), to: User.Profile(email: new))
    }

    private static let changes: [(String?, String?, String)] = [
        ("anna@example.org", "eve@example.org", "anna@example.org>eve@example.org"),
        (nil, "eve@example.org", ">eve@example.org"), ("anna@example.org", nil, "anna@example.org>"),
        ("a>b@x", "c%3Ed@x", "a%3Eb@x>c%253Ed@x"), ("%@x", "%25@%3E>x", "%25@x>%2525@%253E%3Ex"),
    ]

    @Test(arguments: changes)
    func isWrittenAndReadAgain(_ old: String?, _ new: String?, _ reason: String) throws {
        let change = try #require(Self.change(old, new))
        #expect(change.reason == reason)
        #expect(EmailChange(reason: reason) == change)
        #expect(change.old == old && change.new == new)
    }

    @Test func whatIsNoChangeIsNone() {
        #expect(Self.change("a@x", "a@x") == nil)
        #expect(Self.change(nil, nil) == nil)
        #expect(Self.change("A@x", "a@x") != nil)
        // Equal as text, and two mailboxes perhaps.
        #expect(Self.change("\u{E9}@x", "e\u{301}@x") != nil)
        for reason in ["", "profile", "a>b>c"] { #expect(EmailChange(reason: reason) == nil, "\(reason)") }
    }
}
