import FoundationEssentials
import Testing

@testable import JSON

struct JSONObjectTests {
    /// What the encoder of Foundation writes of the same members.
    private struct Sample: Codable, Equatable {
        struct Inner: Codable, Equatable { var x: String? }
        var a: String?
        var b: Int64?
        var c: [String]?
        var d: Inner?
        var e: String

        var json: [UInt8] {
            var object = JSONObject(capacity: 8)
            object.add("a", a)
            object.add("b", b)
            object.add("c", c)
            var inner = JSONObject()
            inner.add("x", d?.x)
            object.add("d", d == nil ? nil : inner)
            object.add("e", e)
            return object.encoded()
        }
    }

    @Test func anObjectWithoutMembersIsEmpty() {
        #expect(JSONObject().encoded() == Array("{}".utf8))
    }

    @Test func membersStandInTheOrderInWhichTheyWereAdded() {
        var object = JSONObject()
        object.add("z", "1")
        object.add("absent", nil as String?)
        object.add("a", 2)
        #expect(String(decoding: object.encoded(), as: UTF8.self) == #"{"z":"1","a":2}"#)
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, .max, .min] as [Int64]) func numbersAreWrittenWhole(_ number: Int64) {
        var object = JSONObject()
        object.add("a", number)
        #expect(String(decoding: object.encoded(), as: UTF8.self) == #"{"a":\#(number)}"#)
    }

    @Test func everyCharacterBelow256AndSomeAboveIsWrittenAsFoundationWritesIt() throws {
        let scalars =
            (0...0xff).compactMap { Unicode.Scalar($0) }
            + ["\u{2028}", "€", "\u{feff}", "\u{10ffff}", "👩‍🚀"].flatMap(\.unicodeScalars)
        for scalar in scalars {
            for text in [String(Character(scalar)), "ab\(Character(scalar))", "\(Character(scalar))/c"] {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .withoutEscapingSlashes
                #expect(Array(JSONText.quoted(text).utf8) == Array(try encoder.encode(text)), "U+\(scalar.value)")
            }
        }
    }

    @Test func aTextIsPlainExactlyIfFoundationOnlyAddsQuotes() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for byte in UInt8(0)..<0x80 {
            for place in 0..<19 {
                var text = [UInt8](repeating: UInt8(ascii: " "), count: 19)
                text[place] = byte
                let string = String(decoding: text, as: UTF8.self)
                #expect(JSONText.isPlain(string) == (try encoder.encode(string).count == 21), "\(byte) at \(place)")
            }
        }
        #expect(JSONText.isPlain(""))
        #expect(!JSONText.isPlain("ä"))
        #expect(!JSONText.isPlain("1234567ä"))
    }

    @Test func randomObjectsAreWhatFoundationWrites() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for _ in 0..<2000 {
            let sample = Sample(
                a: random.maybe(random.text()), b: random.maybe(Int64(bitPattern: random.next())),
                c: random.maybe((0..<Int(random.next() % 4)).map { _ in random.text() }),
                d: random.maybe(Sample.Inner(x: random.maybe(random.text()))), e: random.text())
            #expect(sample.json == Array(try encoder.encode(sample)), "seed \(seed)")
            #expect(try JSONDecoder().decode(Sample.self, from: Data(sample.json)) == sample, "seed \(seed)")
        }
    }
}

/// A seeded source, so that a failure can be seen again.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func maybe<Value>(_ value: Value) -> Value? { next() % 3 == 0 ? nil : value }

    mutating func text() -> String {
        let alphabet: [Character] = ["a", "Z", "9", " ", "/", "\"", "\\", "\n", "\u{7f}", "é", "漢", "🇨🇭", "\u{0}", "~"]
        let isPlain = next() % 2 == 0
        return String(
            (0..<Int(next() % 24)).map { _ in isPlain ? "k" : alphabet[Int(next() % UInt64(alphabet.count))] })
    }
}
