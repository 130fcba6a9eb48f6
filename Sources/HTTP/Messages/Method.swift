/// A request method (RFC 9110 §9). Methods are case-sensitive, and any token can be one.
public struct Method: Hashable, Sendable, CustomStringConvertible {
    /// The known methods, and a case for every other, so that comparing two known methods compares one byte.
    private enum Kind: Hashable, Sendable {
        case get, head, post, put, patch, delete, options, connect, trace
        case other(String)
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// Creates a method from its name. The parser checks that it is a token.
    public init(rawValue: String) {
        self = Self.known(rawValue.utf8.span) ?? Method(.other(rawValue))
    }

    /// Creates a method from bytes that are known to be a token.
    init(token bytes: Span<UInt8>) { self = Self.known(bytes) ?? Method(.other(String(ascii: bytes))) }

    /// The method as the request line has it.
    public var rawValue: String {
        switch kind {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        case .other(let name): name
        }
    }

    /// The method as the request line has it.
    public var description: String { rawValue }

    /// True for the methods of RFC 9110 and RFC 5789: a router answers them with 405, any other with 501.
    public var isKnown: Bool {
        if case .other = kind { return false }
        return true
    }

    /// `GET`
    public static let get = Method(.get)
    /// `HEAD`
    public static let head = Method(.head)
    /// `POST`
    public static let post = Method(.post)
    /// `PUT`
    public static let put = Method(.put)
    /// `PATCH` (RFC 5789)
    public static let patch = Method(.patch)
    /// `DELETE`
    public static let delete = Method(.delete)
    /// `OPTIONS`
    public static let options = Method(.options)
    /// `CONNECT`. The parser refuses it, so handlers never see it.
    public static let connect = Method(.connect)
    /// `TRACE`
    public static let trace = Method(.trace)

    /// Compares the length first, so that at most two names are compared.
    private static func known(_ bytes: Span<UInt8>) -> Method? {
        switch bytes.count {
        case 3: named("GET", .get, bytes) ?? named("PUT", .put, bytes)
        case 4: named("POST", .post, bytes) ?? named("HEAD", .head, bytes)
        case 5: named("PATCH", .patch, bytes) ?? named("TRACE", .trace, bytes)
        case 6: named("DELETE", .delete, bytes)
        case 7: named("OPTIONS", .options, bytes) ?? named("CONNECT", .connect, bytes)
        default: nil
        }
    }

    @inline(__always)
    private static func named(_ name: StaticString, _ method: Method, _ bytes: Span<UInt8>) -> Method? {
        for index in bytes.indices where unsafe name.utf8Start[index] != bytes[index] { return nil }
        return method
    }
}
