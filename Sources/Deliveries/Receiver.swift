internal import HTTP
internal import HTTPClient

/// The reason why a receiver did not take a message.
struct DeliveryProblem: Error {
    /// The reason in a few words, for logs and the console.
    let cause: String
    /// True if this server cannot send at present: `cause` is what it waits for, and no failure of the receiver.
    var isOwn = false
    /// True for an answer of 400.
    var isBadRequest = false
    /// The receiver's `Retry-After`, if any (RFC 9110 section 10.2.3).
    var retryAfter: Duration?
}

/// The other side of deliveries.
struct Receiver: Sendable {
    let client: HTTPClient

    /// Sends a request. Any answer of 2xx takes the message, and nothing else does.
    func send(_ request: OutboundRequest) async throws(DeliveryProblem) {
        let answer: OutboundResponse
        do throws(OutboundError) { answer = try await client.send(request) } catch {
            throw DeliveryProblem(cause: error.word)
        }
        if (200..<300).contains(answer.status) { return }
        let seconds = answer.fields.first("Retry-After").flatMap { UInt64($0) }.map { min($0, 3600) }
        throw DeliveryProblem(
            cause: "status \(answer.status)", isBadRequest: answer.status == 400,
            retryAfter: seconds.map { .seconds($0) })
    }
}
