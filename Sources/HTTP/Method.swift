/// A request method (RFC 9110 §9). Case-sensitive; any token can be one.
public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The method as it stands in the request line.
    public let rawValue: String

    /// Wraps a method name. The parser makes sure that it is a token.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The method as it stands in the request line.
    public var description: String { rawValue }

    /// `GET`
    public static let get = Method(rawValue: "GET")
    /// `HEAD`
    public static let head = Method(rawValue: "HEAD")
    /// `POST`
    public static let post = Method(rawValue: "POST")
    /// `PUT`
    public static let put = Method(rawValue: "PUT")
    /// `PATCH` (RFC 5789)
    public static let patch = Method(rawValue: "PATCH")
    /// `DELETE`
    public static let delete = Method(rawValue: "DELETE")
    /// `OPTIONS`
    public static let options = Method(rawValue: "OPTIONS")
    /// `CONNECT`: never reaches a handler, the parser refuses it.
    public static let connect = Method(rawValue: "CONNECT")
    /// `TRACE`
    public static let trace = Method(rawValue: "TRACE")

    /// The methods of RFC 9110 and RFC 5789: a router answers these with 405, any other with 501.
    public static let known: Set<Method> = [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace]
}
