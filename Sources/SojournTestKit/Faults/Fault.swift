public import SojournClient

/// What happens to one request on its way to the server and back.
public indirect enum Fault: Hashable, Sendable {
    /// Nothing.
    case pass
    /// The connection breaks before the server has got the request.
    case loseRequest
    /// The server carries out the request, and the connection breaks before its answer arrives.
    case loseAnswer
    /// The request arrives later, even if the client has stopped waiting by then.
    case delay(Duration)
    /// The answer arrives later.
    case delayAnswer(Duration)
    /// A second copy of the request arrives after the first, and its answer is lost.
    case duplicate(after: Duration)
    /// The request arrives twice, and the answer to the second copy is the one that comes back: a browser repeats a request by itself
    /// when its connection was cut.
    case repeated
    /// A proxy answers with this status instead of the server, with an empty body.
    case status(Int, retryAfter: Int64? = nil)
    /// A captive portal answers 200 with this page instead of the server.
    case page(String)
    /// Only the first bytes of the answer's body arrive.
    case cut(afterBytes: Int)
    /// The answer's `Date` is wrong by so many hours.
    case wrongDate(hours: Int)
    /// The answer carries a nonce for proofs (RFC 9449 section 8) that the server does not know.
    case staleNonce
    /// This answer comes instead of the server's, which never gets the request.
    case answer(HTTPAnswer)
    /// As the other fault, but what the client gets of it arrives only when the gate opens.
    case held(Gate, Fault)
}

/// The nonce that `Fault.staleNonce` puts into answers.
package let unknownNonce = "a-nonce-that-no-server-has-made"
