import HTTP
import Testing

@Suite struct PercentEncodingTests {
    @Test(
        "only unreserved characters stay as they are, and digits are upper-case",
        arguments: [
            ("", ""), ("AZaz09-._~", "AZaz09-._~"), ("a b+c", "a%20b%2Bc"), ("/?#&=%", "%2F%3F%23%26%3D%25"),
            ("\u{E4}\u{20AC}", "%C3%A4%E2%82%AC"), ("\0\u{7F}", "%00%7F"), ("*'()!", "%2A%27%28%29%21"),
        ])
    func encoding(text: String, expected: String) { #expect(PercentEncoding.encode(text) == expected) }
}
