import Sessions
import Testing

/// The preparation of usernames and the syntax of mailboxes.
struct UsernameAndMailboxTests {
    @Test("blanks around a name are not part of its key", arguments: [" anna", "anna\n", "\u{A0}Anna\u{3000}", "anna"])
    func outerBlanks(typed: String) {
        #expect(Text.key(typed) == "anna")
    }

    @Test(
        "a name with blanks, or with what cannot be seen, cannot be taken",
        arguments: [
            (" anna", "must have no blanks"), ("an na", "must have no blanks"), ("", "must not be empty"),
            ("anna\u{200B}", "must not have U+200B"), ("anna\u{202E}", "must not have U+202E"),
            (String(repeating: "a", count: 129), "must have 1 to 128 bytes"),
        ])
    func refusedNames(name: String, problem: String) {
        #expect(Text.problem(withUsername: name) == problem)
    }

    @Test("a text that cannot be a name has the key of no name")
    func keysOfImpossibleNames() {
        #expect(Text.key("an na") == "an na")
        #expect(Text.key("anna\u{202E}") != Text.key("anna"))
    }

    @Test(
        "a mailbox is a dot-atom and a domain with a dot",
        arguments: [
            "anna@example.org", "a.n+n_a@mail.example.org", "o'neil@example.org", "zo\u{EB}@b\u{FC}ro.example",
            "!#$%&'*+-/=?^_`{|}~@example.org", String(repeating: "a", count: 64) + "@example.org",
        ])
    func mailboxes(address: String) {
        #expect(Mailbox.isValid(address))
    }

    @Test(
        "an address that no mail provider gives out is no mailbox",
        arguments: [
            "", "anna", "@example.org", "anna@", "anna@localhost", "anna@@example.org", "an na@example.org",
            " anna@example.org", "anna@example.org ", "anna@example..org", "anna@.example.org", "anna@example.org.",
            ".anna@example.org", "anna.@example.org", "an..na@example.org", "\"an na\"@example.org", "anna@[192.0.2.1]",
            "anna@-example.org", "anna@example-.org", "anna\u{200B}@example.org", "anna@exa\u{3000}mple.org",
            "anna\r\nBcc: b@example.org", "anna,b@example.org", "<anna@example.org>",
            String(repeating: "a", count: 65) + "@example.org",
        ])
    func noMailboxes(address: String) {
        #expect(!Mailbox.isValid(address))
    }
}
