import Testing

@testable import HTTP

/// The classes of `Grammar`, byte by byte, against the characters as the RFCs list them.
@Suite struct GrammarTests {
    private static let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    @Test(arguments: UInt8.min...UInt8.max)
    func classesAreThoseOfTheRFCs(_ byte: UInt8) {
        let unreservedOrSubDelimiter = Self.alphanumeric + "-._~" + "!$&'()*+,;="
        #expect(Grammar.isTokenCharacter(byte) == (Self.alphanumeric + "!#$%&'*+-.^_`|~").utf8.contains(byte))
        #expect(Grammar.isUnreservedOrSubDelimiter(byte) == unreservedOrSubDelimiter.utf8.contains(byte))
        #expect(Grammar.isQueryCharacter(byte) == (unreservedOrSubDelimiter + ":@/?").utf8.contains(byte))
        #expect(Grammar.isForbiddenControl(byte) == ((byte < 32 && byte != 9) || byte == 127))
        #expect(Grammar.isDigit(byte) == "0123456789".utf8.contains(byte))
        #expect(Grammar.hexValue(byte) == UInt8(String(UnicodeScalar(byte)), radix: 16))
        #expect(Grammar.isBlank(byte) == " \t".utf8.contains(byte))
        let isUpperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8.contains(byte)
        #expect(Grammar.lowercased(byte) == (isUpperCase ? byte + 32 : byte))
    }
}
