import HTTP

/// What must hold for every value of `Forwarded` and `X-Forwarded-For`, for the tests and for the fuzzer.
enum ForwardingProperties {
    /// The first thing that does not hold for `bytes`; nil when all is well.
    static func violation(_ bytes: [UInt8]) -> String? {
        let value = String(decoding: bytes, as: UTF8.self)
        let names: [(StaticString, StaticString, ForwardingField)] = [
            ("Forwarded", "forwarded", .forwarded), ("X-Forwarded-For", "x-forwarded-for", .xForwardedFor),
        ]
        for (name, other, field) in names {
            let told = ForwardedHops([name: value], in: field).map(\.node)
            let members = value.utf8.count { $0 == 0x2C } + 1
            guard told.count <= members else { return "\(told.count) hops out of \(members) members of \(value)" }
            // What the nearest proxy appends is what is believed, whatever it was appended to.
            let own = field == .forwarded ? "for=192.0.2.1" : "192.0.2.1"
            for fields: Fields in [[name: "\(value), \(own)"], [name: value, other: own]] {
                let nodes = ForwardedHops(fields, in: field).map(\.node)
                guard nodes.first == .address("192.0.2.1"), nodes.dropFirst().elementsEqual(told) else {
                    return "\(name): \(value): \(told), with one more: \(nodes)"
                }
            }
        }
        return nil
    }
}
