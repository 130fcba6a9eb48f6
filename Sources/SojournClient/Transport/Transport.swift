public import Foundation

/// Sends requests to the server.
///
/// An implementation never follows redirects, never caches, sends no cookies, and returns whatever status the server answers.
public protocol Transport: Sendable {
    /// Sends `request` and returns the whole answer, at most 64 KiB of it. Gives up after `limit`, by a clock that runs while
    /// the device sleeps. If the task is cancelled, the request is abandoned.
    func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer
}

/// A request.
public struct HTTPMessage: Hashable, Sendable {
    /// `GET`, `POST` and so on.
    public var method: String
    /// The absolute URL.
    public var url: URL
    /// The fields, in order, names as they are sent.
    public var fields: [HTTPMessageField]
    /// The content; empty if there is none.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, url: URL, fields: [HTTPMessageField] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// A field of a message.
public struct HTTPMessageField: Hashable, Sendable {
    /// The name. Names are compared without regard to case.
    public var name: String
    /// The value.
    public var value: String
    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// An answer.
public struct HTTPAnswer: Hashable, Sendable {
    /// The status, 100 to 599.
    public var status: Int
    /// The fields.
    public var fields: [HTTPMessageField]
    /// The content.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, fields: [HTTPMessageField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// The reason why no answer came.
public enum TransportFailure: Error, Hashable, Sendable {
    /// No connection, or it was lost: the server may or may not have got the request.
    case unreachable(String)
    /// The time limit passed.
    case timedOut
    /// The task was cancelled.
    case cancelled
    /// The answer was longer than 64 KiB.
    case tooLong
}
