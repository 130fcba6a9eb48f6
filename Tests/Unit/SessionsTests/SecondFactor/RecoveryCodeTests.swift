import Cryptography
import Testing

@testable import Sessions

struct RecoveryCodeTests {
    @Test("A recovery code has 24 signs without look-alikes, and is read with look-alikes too")
    func typing() throws {
        let code = RecoveryCodeText(random: RandomSource { count in (0..<count).map { UInt8($0 * 37 % 256) } })
        let signs = code.text.filter { $0 != "-" }

        #expect(signs.count == 24)
        #expect(!signs.contains { "ILOU".contains($0) })
        let typed = code.text.lowercased().replacing("0", with: "o").replacing("1", with: "l").replacing("-", with: " ")
        #expect(RecoveryCodeText(typed) == code)
        #expect(RecoveryCodeText("123456") == nil)
        #expect(RecoveryCodeText(String(code.text.dropLast())) == nil)
        #expect("\(code)" == "RecoveryCodeText(redacted)")
    }

    @Test("The hash of a code belongs to its user")
    func hash() {
        let code = RecoveryCodeText(random: .system)
        let (anna, ben) = (Sample.user(), Sample.user())

        #expect(code.hash(of: anna.id) != code.hash(of: ben.id))
        #expect(code.hash(of: anna.id).count == 32)
    }
}
