import HTTP
import Testing

@Suite struct FormDecoderTests {
    @Test(
        arguments: [
            ("", []), ("a", ["a", ""]), ("a=", ["a", ""]), ("=a", ["", "a"]), ("a=b=c", ["a", "b=c"]),
            ("a=b&a=c&", ["a", "b", "a", "c"]), ("&&a=b", ["a", "b"]), ("a+b=c%20d%2B+", ["a b", "c d+ "]),
            ("%26%3d=%25", ["&=", "%"]), ("a=%C3%A9%0a", ["a", "é\n"]), ("a=\u{C3}\u{A9}", ["a", "é"]),
            (
                "grant_type=refresh_token&refresh_token=sjr_a-_",
                ["grant_type", "refresh_token", "refresh_token", "sjr_a-_"]
            ),
        ] as [(String, [String])])
    func decodes(_ body: String, _ expected: [String]) throws {
        #expect(try FormDecoder.decode(body.bytes).flatMap { [$0.name, $0.value] } == expected)
    }

    @Test(
        arguments: [
            ("a=%", .invalidEscape), ("a=%4", .invalidEscape), ("a=%4&b", .invalidEscape), ("%g1=a", .invalidEscape),
            ("a=%+1", .invalidEscape), ("a=%00", .forbiddenCharacter), ("a=\0", .forbiddenCharacter),
            ("a=b\r\n", .forbiddenCharacter), ("a=\u{7F}", .forbiddenCharacter), ("a=%ff", .invalidUTF8),
            ("a=\u{E9}", .invalidUTF8), ("%c3=%a9", .invalidUTF8), ("a=%ed%a0%80", .invalidUTF8),
            ("a=%f4%90%80%80", .invalidUTF8),
        ] as [(String, FormError)])
    func refuses(_ body: String, _ error: FormError) {
        #expect(throws: error) { try FormDecoder.decode(body.bytes) }
    }

    @Test func countsPairs() throws {
        #expect(try FormDecoder.decode("a&b&".bytes, maximumCount: 2).count == 2)
        #expect(throws: FormError.tooManyPairs) { try FormDecoder.decode("a&b&c".bytes, maximumCount: 2) }
        #expect(throws: FormError.tooManyPairs) { try FormDecoder.decode("&&&".bytes, maximumCount: 2) }
    }
}
