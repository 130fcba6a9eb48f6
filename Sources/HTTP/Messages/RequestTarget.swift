/// The target of a request (RFC 9112 §3.2).
public struct RequestTarget: Hashable, Sendable {
    /// The form in which the target was written.
    public enum Form: Hashable, Sendable {
        /// `/path?query`
        case origin
        /// `http://authority/path?query`; the authority has replaced the `Host` field.
        case absolute
        /// `*`, for `OPTIONS` only.
        case asterisk
    }

    /// The form in which the target was written.
    public let form: Form
    /// The path as the request has it, with escapes; it starts with `/`. `*` for the asterisk form.
    public let path: String
    /// The text after the first `?`, with escapes; nil without a `?`.
    public let query: String?

    /// Creates a target in origin form without checking the grammar; the parser does that.
    public init(path: String, query: String? = nil) {
        self.init(form: .origin, path: path, query: query)
    }

    /// Creates a target in any form without checking the grammar; the parser does that.
    public init(form: Form, path: String, query: String?) {
        self.form = form
        self.path = path
        self.query = query
    }

    /// `*`
    public static let asterisk = RequestTarget(form: .asterisk, path: "*", query: nil)
}
