import Testing

@testable import Sessions

@Suite struct PasswordRulesTests {
    @Test(arguments: [
        "password", "Password1", "p@ssw0rd!", "12345678", "87654321", "qwertyuiop", "aaaaaaaa", "abcabcabc", "19840312",
        "31121999", "iloveyou", "lovelove", "monkey2024!", "1qaz2wsx", "asdfghjkl", "anna1234", "annaanna",
        "Sojourn2026!", "short", "Samantha", "4815162342", "zzzzzzz1", "!qaz2wsx", "rush2112",
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

    /// ASVS 6.2.4: three thousand at least of those that people use most.
    @Test func everyPasswordOfTheListIsRefused() {
        let list = CommonPasswords.list.split(separator: UInt8(ascii: "\n"))
        #expect(list.count > 3000)
        var missing: [String] = []
        for line in list {
            let password = String(decoding: line, as: UTF8.self)
            if PasswordRules().problem(with: password, username: nil) == nil { missing.append(password) }
            #expect(password == Text.key(password) && password.count >= 8)
        }
        #expect(missing == [])
    }

    @Test func ownWordsAreNoPasswords() {
        var rules = PasswordRules()
        #expect(rules.problem(with: "Flughafen-2026", username: nil) == nil)
        rules.ownWords = ["flughafen", "Öresund"]
        #expect(rules.problem(with: "Flughafen-2026", username: nil) != nil)
        #expect(rules.problem(with: "öresund!!", username: nil) != nil)
        #expect(rules.problem(with: "Flughafenfeuerwehr", username: nil) == nil)
    }

    @Test func theLeastLengthCanBeRaised() {
        var rules = PasswordRules()
        rules.lengthMin = 15
        #expect(rules.problem(with: "correct horse", username: nil) == "must have at least 15 characters")
        #expect(rules.problem(with: "correct horse battery", username: nil) == nil)
        #expect(rules.problem(with: String(repeating: "long and fine ", count: 70), username: nil) == nil)
    }
}
