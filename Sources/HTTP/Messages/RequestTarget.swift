/// What a request is about (RFC 9112 §3.2).
public struct RequestTarget: Hashable, Sendable {
    /// How the target was written.
    public enum Form: Hashable, Sendable {
        /// `/path?query`
        case origin
        /// `http://authority/path?query`; the authority has replaced the `Host` field.
        case absolute
        /// `*`, for `OPTIONS` alone.
        case asterisk
    }

    /// How the target was written.
    public let form: Form
    /// The path as it stands in the request, escapes included; it starts with `/`. `*` for the asterisk form.
    public let path: String
    /// What follows the first `?`, escapes included; nil without a `?`.
    public let query: String?

    /// A target of the origin form, taken as it is: this does not check the grammar, the parser does.
    public init(path: String, query: String? = nil) {
        self.init(form: .origin, path: path, query: query)
    }

    /// A target of any form, taken as it is: this does not check the grammar, the parser does.
    public init(form: Form, path: String, query: String?) {
        self.form = form
        self.path = path
        self.query = query
    }

    /// `*`
    public static let asterisk = RequestTarget(form: .asterisk, path: "*", query: nil)
}
