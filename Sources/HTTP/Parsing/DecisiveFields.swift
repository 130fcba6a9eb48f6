/// The fields that decide how a request is read. One pass over the head finds them all.
struct DecisiveFields {
    /// The index of a field, and whether the field repeats.
    struct Occurrence {
        var first: Int?
        var isRepeated = false

        @inline(__always)
        mutating func add(_ index: Int) {
            if first == nil { first = index } else { isRepeated = true }
        }
    }

    var host = Occurrence()
    var expect = Occurrence()
    var contentLength = Occurrence()
    var transferEncoding = Occurrence()

    /// Finds the fields. Comparing the length first decides most names.
    init(_ fields: borrowing Fields) {
        let bytes = fields.bytes.span
        for index in fields.entries.indices {
            let name = fields.entries[index].name
            switch name.count {
            case 4 where Grammar.equalsIgnoringCase(bytes.extracting(name), "host".utf8.span):
                host.add(index)
            case 6 where Grammar.equalsIgnoringCase(bytes.extracting(name), "expect".utf8.span):
                expect.add(index)
            case 14 where Grammar.equalsIgnoringCase(bytes.extracting(name), "content-length".utf8.span):
                contentLength.add(index)
            case 17 where Grammar.equalsIgnoringCase(bytes.extracting(name), "transfer-encoding".utf8.span):
                transferEncoding.add(index)
            default: break
            }
        }
    }
}
