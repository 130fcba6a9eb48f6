import Testing

@testable import Sessions

@Suite struct PasswordRulesTests {
    @Test(arguments: [
        "password", "Password1", "p@ssw0rd!", "12345678", "87654321", "qwertyuiop", "aaaaaaaa", "abcabcabc", "19840312",
        "31121999", "iloveyou", "lovelove", "monkey2024!", "1qaz2wsx", "asdfghjkl", "anna1234", "annaanna",
        "Sojourn2026!", "short",
    ])
    func whatIsGuessedFirstIsRefused(password: String) {
        #expect(PasswordRules().problem(with: password, username: "Anna") != nil)
    }

    @Test(arguments: [
        "correct horse", "battery staple", "another horse", "long enough", "ананасовый сок", "xk7#Qp2m",
        "annas old bicycle",
        "        a tab", "\u{1F98A}\u{1F40E}\u{1F98A}\u{1F422}\u{1F40E}\u{1F9C0}\u{1F34B}\u{1F333}",
    ])
    func everythingElseWillDo(password: String) {
        #expect(PasswordRules().problem(with: password, username: "Anna") == nil)
    }

    @Test func theLeastLengthCanBeRaised() {
        var rules = PasswordRules()
        rules.lengthMin = 15
        #expect(rules.problem(with: "correct horse", username: nil) == "must have at least 15 characters")
        #expect(rules.problem(with: "correct horse battery", username: nil) == nil)
        #expect(rules.problem(with: String(repeating: "long and fine ", count: 70), username: nil) == nil)
    }
}
