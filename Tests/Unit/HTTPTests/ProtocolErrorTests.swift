import HTTP
import Testing

@Suite struct ProtocolErrorTests {
    @Test func eachErrorHasAnInputInTheTables() {
        #expect(Set(ProtocolError.allCases).subtracting(RefusedInput.all.map(\.error)).isEmpty)
    }

    @Test(arguments: ProtocolError.allCases)
    func eachErrorSaysWhatToAnswer(_ error: ProtocolError) {
        #expect(error.status.code >= 400)
        #expect(error.sentence.hasSuffix("."))
        #expect(error.code.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F })
    }

    @Test(
        arguments: [
            (.bodyTooLarge, 413), (.requestLineTooLong, 414), (.unknownExpectation, 417), (.tooManyFields, 431),
            (.fieldsTooLarge, 431), (.methodTooLong, 501), (.connectUnsupported, 501), (.unknownTransferCoding, 501),
            (.unsupportedVersion, 505), (.conflictingFraming, 400), (.malformedHost, 400),
        ] as [(ProtocolError, Int)])
    func namesTheStatusOfTheRFC(_ error: ProtocolError, _ code: Int) {
        #expect(error.status.code == code)
    }
}
