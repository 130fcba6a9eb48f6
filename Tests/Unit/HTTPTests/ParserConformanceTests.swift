import HTTP
import HTTPConformance
import Testing

/// Goal: the parser reads every row as its clause says, however the bytes arrive.
/// Method: each row is fed whole, byte by byte, cut in two at every place, and as every prefix. (What engine and endpoints
/// make of the rows, over sockets, is tested beside them.)
@Suite struct ParserConformanceTests {
    /// What a parser made of some bytes.
    private struct Reading: Equatable {
        var reads: [String] = []
        var failure: ProtocolError?
        var continues = 0
        var staysOpen = true
        var phase = RequestParser.Phase.idle

        /// What may not depend on how the bytes were cut: all but the interim answers, which content that has come makes
        /// needless.
        var essence: Reading {
            var reading = self
            reading.continues = 0
            return reading
        }
    }

    private func read(_ pieces: [ArraySlice<UInt8>]) -> Reading {
        var parser = RequestParser()
        var reading = Reading()
        for piece in pieces {
            parser.append(Array(piece))
            events: while reading.staysOpen {
                switch parser.next() {
                case .needMore: break events
                case .expectContinue: reading.continues += 1
                case .request:
                    let request = parser.takeRequest()
                    reading.reads.append(Row.summary(request))
                    reading.staysOpen = request.wantsKeepAlive
                case .failed(let error):
                    reading.failure = error
                    reading.staysOpen = false
                }
            }
        }
        reading.phase = parser.phase
        return reading
    }

    @Test func everySectionIsCovered() {
        #expect(Section.all.reduce(0) { $0 + $1.statements } == 524)
        let clauses = Set(Row.all.map(\.clause) + EndpointRow.all.map(\.clause))
        for section in Section.all {
            #expect(section.ours.isEmpty || section.checkedIn != nil || clauses.contains(section.clause), "\(section)")
            #expect(
                Set(section.ours).count == section.ours.count && section.ours.allSatisfy { $0 <= section.statements })
            #expect(section.ours.count == section.statements || !section.others.isEmpty, "\(section)")
        }
        // The grammar of codings has a section without a statement.
        #expect(clauses.subtracting(Section.all.map(\.clause)) == ["9112 7"])
    }

    @Test func noRowStandsTwice() {
        let inputs = Row.all.map(\.input).filter { $0.utf8.count < 200 }
        #expect(Set(Row.all.map(\.description)).count == Row.all.count)
        // An input may stand under several clauses.
        #expect(inputs.count - Set(inputs).count < 10)
    }

    @Test func everyRowIsReadAsItsClauseSays() {
        for row in Row.all {
            let reading = read(row.pieces.map { $0[...] })
            #expect(reading.reads == row.reads, "\(row)")
            #expect(reading.continues == row.pieces.count - 1, "\(row)")
            switch row.end {
            case .open: #expect(reading.staysOpen && reading.phase == .idle, "\(row)")
            case .closed: #expect(!reading.staysOpen && reading.failure == nil, "\(row)")
            case .refused(let status): #expect(reading.failure?.status.code == status, "\(row)")
            case .incomplete: #expect(reading.staysOpen, "\(row)")
            }
        }
    }

    @Test(arguments: 0..<4) func everyRowIsReadTheSameHoweverItIsCut(part: Int) {
        for row in Row.all.enumerated().filter({ $0.offset % 4 == part }).map(\.element) where row.bytes.count < 600 {
            let bytes = row.bytes
            let whole = read([bytes[...]]).essence
            #expect(read(bytes.indices.map { bytes[$0...$0] }).essence == whole, "\(row), byte by byte")
            for cut in bytes.indices {
                let reading = read([bytes[..<cut], bytes[cut...]]).essence
                if reading != whole { Issue.record("\(row), cut at \(cut)") }
            }
        }
    }

    @Test(arguments: 0..<4) func noPrefixOfARowIsReadAsSomethingElse(part: Int) {
        for row in Row.all.enumerated().filter({ $0.offset % 4 == part }).map(\.element) where row.bytes.count < 600 {
            let bytes = row.bytes
            let whole = read([bytes[...]])
            for count in bytes.indices {
                let prefix = read([bytes[..<count]])
                if !whole.reads.starts(with: prefix.reads) || prefix.failure != nil && prefix.failure != whole.failure {
                    Issue.record("\(row), prefix of \(count)")
                }
            }
        }
    }
}
