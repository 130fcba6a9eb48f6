public import HTTP
public import JSON

/// A call of the admin API. A form of the console runs it, and its printed commands are made from it, so that a command does what
/// the form does.
public struct AdminCall: Hashable, Sendable {
    /// The method.
    public let method: HTTP.Method
    /// The path after `/admin/v1`.
    public let path: String
    /// The members of the body; nil: it has none.
    public let body: [String: JSONValue]?
    /// The picture that is the body instead.
    public let picture: [UInt8]?

    /// A call.
    public init(_ method: HTTP.Method, _ path: String, _ body: [String: JSONValue]? = nil) {
        (self.method, self.path, self.body, picture) = (method, path, body, nil)
    }

    /// A call that sends a picture.
    public init(_ method: HTTP.Method, _ path: String, picture: [UInt8]) {
        (self.method, self.path, body, self.picture) = (method, path, nil, picture)
    }

    /// The body as text.
    public var json: String? { body.map { JSONValue.object($0).compactText ?? "{}" } }

    /// The whole path.
    public var target: String { "/admin/v1" + path }
}

/// Why a form makes no call, or why its call was refused.
public struct CallRefusal: Error, Sendable {
    /// What the admin has to correct.
    public let sentence: String

    /// A refusal with that sentence.
    public init(_ sentence: String) { self.sentence = sentence }
}
