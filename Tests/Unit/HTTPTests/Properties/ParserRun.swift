import HTTP
import Testing

/// What a parser made of some bytes: complete requests, then perhaps a failure.
struct Outcome: Equatable {
    var requests: [Request] = []
    var failure: ProtocolError?
}

/// Feeds pieces to a parser and takes all events after each of them, as a connection does.
func parse(_ pieces: [ArraySlice<UInt8>], limits: Limits = Limits()) -> Outcome {
    var parser = RequestParser(limits: limits)
    var outcome = Outcome()
    for piece in pieces {
        parser.append(Array(piece))
        events: while true {
            switch parser.next() {
            case .needMore: break events
            case .expectContinue: continue
            case .request: outcome.requests.append(parser.takeRequest())
            case .failed(let error):
                outcome.failure = error
                break events
            }
        }
    }
    return outcome
}

func parse(_ input: String, limits: Limits = Limits()) -> Outcome { parse([input.bytes[...]], limits: limits) }

/// The first request of an input that has nothing else.
func onlyRequest(_ input: String) -> Request? {
    let outcome = parse(input)
    return outcome.failure == nil && outcome.requests.count == 1 ? outcome.requests[0] : nil
}

func byteByByte(_ bytes: [UInt8], limits: Limits = Limits()) -> Outcome {
    parse(bytes.indices.map { bytes[$0...$0] }, limits: limits)
}

extension String {
    /// Each scalar up to U+00FF as one byte, so that `\u{80}` in a table is the byte 0x80.
    var bytes: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

/// An input of either table, for tests that hold for all of them.
struct NamedInput: CustomTestStringConvertible {
    let testDescription: String
    let input: String

    static let all =
        RefusedInput.all.map { NamedInput(testDescription: $0.testDescription, input: $0.input) }
        + AcceptedInput.all.map { NamedInput(testDescription: $0.testDescription, input: $0.input) }
}

/// SplitMix64: the same sequence from the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
