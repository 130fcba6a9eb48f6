import SojournClient
import SojournTestKit

/// What the proxy adds to answers of its own, so that the page of another origin can read them as it reads the server's.
enum CrossOrigin {
    /// What happens to a request that would meet `fault`, if a browser has sent it. An answer without any field stays as it is: it is
    /// one that no page can read.
    static func fault(_ fault: Fault, for request: SeenRequest) -> Fault {
        guard let origin = request.origin else { return fault }
        if request.kind == .preflight {
            // The server knows no API. Its other questions it answers itself.
            guard request.isOfAPI else { return fault }
            return .answer(readable(HTTPAnswer(status: 204), by: origin))
        }
        switch fault {
        case .answer(let answer): return answer.fields.isEmpty ? fault : .answer(readable(answer, by: origin))
        case .status(let status, let retryAfter):
            let fields = retryAfter.map { [HTTPMessageField("Retry-After", "\($0)")] } ?? []
            return .answer(readable(HTTPAnswer(status: status, fields: fields), by: origin))
        case .page(let text): return .answer(readable(.page(200, text), by: origin))
        case .held(let gate, let held): return .held(gate, Self.fault(held, for: request))
        default: return fault
        }
    }

    private static func readable(_ answer: HTTPAnswer, by origin: String) -> HTTPAnswer {
        var answer = answer
        answer.fields += [
            HTTPMessageField("Access-Control-Allow-Origin", origin),
            HTTPMessageField("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE"),
            HTTPMessageField("Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP, Idempotency-Key"),
            HTTPMessageField(
                "Access-Control-Expose-Headers",
                "DPoP-Nonce, WWW-Authenticate, Retry-After, Date, Age, X-Request-Id"),
            HTTPMessageField("Vary", "Origin"),
        ]
        return answer
    }
}
