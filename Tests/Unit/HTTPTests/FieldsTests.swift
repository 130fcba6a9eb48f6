import HTTP
import Testing

@Suite struct FieldsTests {
    private let fields: Fields = ["Accept": "a", "X-Token": "1", "accept": "b, C", "ACCEPT": ""]

    @Test func findsNamesInAnyCase() {
        #expect(fields.first("aCCEPT") == "a")
        #expect(fields.values("accept") == ["a", "b, C", ""])
        #expect(fields.contains("x-token"))
        #expect(!fields.contains("x-toke"))
        #expect(!fields.contains("x-token2"))
        #expect(fields.first("missing") == nil)
        #expect(fields.values("missing") == [])
        #expect(fields.firstBytes("X-TOKEN").map(Array.init) == [0x31])
        // Folding is for letters alone: `[` and `{` differ by the same bit.
        #expect(!(["a^": "b"] as Fields).contains("a~"))
    }

    @Test func givesAFieldThatStandsOnce() throws {
        #expect(try fields.only("x-token") == "1")
        #expect(try fields.only("missing") == nil)
        #expect(throws: Fields.Repeated.self) { try fields.only("Accept") }
    }

    @Test func findsMembersOfLists() {
        #expect(fields.listContains("accept", "B"))
        #expect(fields.listContains("accept", "c"))
        #expect(!fields.listContains("accept", "b, c"))
        #expect(!fields.listContains("accept", "d"))
        #expect((["a": " ,\t, x ,"] as Fields).listContains("a", "x"))
    }

    @Test func replacesAndRemoves() {
        var changed = fields
        changed.set("accept", "z")
        #expect(changed == ["X-Token": "1", "accept": "z"])
        changed.remove("X-TOKEN")
        #expect(changed.map { "\($0.name)=\($0.value)" } == ["accept=z"])
        changed.remove("accept")
        #expect(changed.isEmpty)
    }

    @Test func comparesNamesInAnyCaseAndValuesExactly() {
        #expect((["A": "b"] as Fields) == ["a": "b"])
        #expect((["A": "b"] as Fields) != ["a": "B"])
        #expect((["A": "b"] as Fields) != ["a": "b", "c": "d"])
    }

    @Test func keepsAValueOnOneLine() {
        let split: Fields = ["Location": "/\r\nSet-Cookie: a=b\r\n\r\n\0\u{7F}\tx\u{E9}"]
        #expect(split.first("Location") == "/  Set-Cookie: a=b      \tx\u{E9}")
        var set = Fields()
        set.set("a", "\n")
        #expect(set.first("a") == " ")
    }

    /// Names are constants of a program, so that a debug build is where a wrong one shows.
    @Test func trapsOnANameThatIsNone() async {
        await #expect(processExitsWith: .failure) { _ = ["": ""] as Fields }
        await #expect(processExitsWith: .failure) { _ = ["a b": ""] as Fields }
        await #expect(processExitsWith: .failure) { _ = ["a:": ""] as Fields }
        await #expect(processExitsWith: .failure) { _ = ["a\r\nb": ""] as Fields }
        await #expect(processExitsWith: .failure) { _ = ["é": ""] as Fields }
        await #expect(processExitsWith: .success) { _ = ["A": "b"] as Fields }
    }

    @Test func readsLines() throws {
        let fields = try Fields(parsing: Array("A: 1\r\nB:2 \r\n".utf8))
        #expect(fields == ["A": "1", "B": "2"])
        #expect(try Fields(parsing: []).isEmpty)
        for lines in ["A: 1", "A: 1\r\n\r\n", "A 1\r\n", "A: \u{1}\r\n", ": 1\r\n", "A: 1\n"] {
            #expect(throws: ProtocolError.self) { try Fields(parsing: Array(lines.utf8)) }
        }
    }
}
