import JSON
import Testing

/// Numbers of a JSON text that are read as they are, and those that would be rounded.
@Suite struct ExactNumberTests {
    @Test(
        "a number that comes back equal is kept",
        arguments: [
            "0", "-0", "7", "-7", "9223372036854775807", "-9223372036854775808", "1.0", "0.1", "-0.25", "1e3", "1E+3",
            "12.50", "100000000000000000000000", "1e23", "0.0000001", "5e-324", "1.7976931348623157e308", "0.0e99",
            "123456789.123456",
        ])
    func kept(number: String) throws {
        let text = Array(#"{"a":\#(number),"b":[\#(number)]}"#.utf8)
        #expect(StrictJSON.keepsNumbers(text))
        let members = try StrictJSON.object(text)
        let again = try StrictJSON.object(Array(try #require(JSONValue.object(members).compactText).utf8))
        #expect(again == members)
    }

    @Test(
        "a number that would be rounded is not",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "12345678901234567890", "0.1000000000000000000001",
            "9007199254740993.0", "3.14159265358979323846", "1e400", "-1e400", "1e-400",
            "0.\(String(repeating: "0", count: 400))1", "123456789012345678.5", "1e99999999999999999999",
        ])
    func rounded(number: String) {
        #expect(!StrictJSON.keepsNumbers(Array(#"{"a":{"b":[1,\#(number)]}}"#.utf8)))
    }

    @Test("digits in a string are no number, whatever stands before its end")
    func strings() {
        let big = "12345678901234567890"
        for text in [#"{"a":"\#(big)"}"#, #"{"\#(big)":1}"#, #"{"a":"\" \#(big)"}"#, #"{"a":"\\","b":"x\#(big)"}"#] {
            #expect(StrictJSON.keepsNumbers(Array(text.utf8)), "\(text)")
        }
        #expect(!StrictJSON.keepsNumbers(Array(#"{"a":"\\","b":\#(big)}"#.utf8)))
        #expect(StrictJSON.keepsNumbers(Array("{ - no JSON \"".utf8)))
    }
}
