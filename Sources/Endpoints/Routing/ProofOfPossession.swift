internal import HTTP
internal import JOSE
internal import OAuth
internal import Sessions

/// Proofs of possession (RFC 9449): the field `DPoP`, and the request that its proof must have been made for. A request
/// without that field costs nothing here.
extension Endpoints {
    /// The good proof of possession that the request holds; nil when it holds none at all.
    func keyProof(_ call: Call, accessToken: String? = nil) throws -> ProofOfPossession? {
        guard call.request.fields.contains("DPoP") else { return nil }
        do throws(DPoPError) {
            // RFC 9449 section 4.3 point 1: not more than one. In a field that is joined, a comma makes it unreadable.
            let values = call.request.fields.values("DPoP")
            guard values.count == 1 else { throw .malformed }
            let (method, target) = occasion(of: call)
            return try context.proofs.check(
                values[0], for: ExpectedRequest(method: method, target: target, accessToken: accessToken),
                at: context.clock.now)
        } catch {
            throw RequestProblem.unproven(error, withAccessToken: accessToken != nil)
        }
    }

    /// How the access token was presented, which came by the scheme `DPoP`: with a good proof (RFC 9449 section 7.1).
    func provenUse(of token: String, _ call: Call) throws -> TokenUse {
        guard let proof = try keyProof(call, accessToken: token) else {
            throw RequestProblem.unproven(.malformed, withAccessToken: true)
        }
        return .proven(proof)
    }

    /// The access token in the `Authorization` field, and how it was presented.
    func presentedToken(_ call: Call) throws -> (token: String, use: TokenUse) {
        switch try call.authorization() {
        case .bearer(let token)?: (token, .bearer)
        case .dpop(let token)?: (token, try provenUse(of: token, call))
        case .basic?, nil: throw RequestProblem.unauthenticated
        }
    }

    /// Method and target for which the proof must have been made: those of the request itself under the public base URL, or of
    /// the one that a proxy asks about. No proof is good for a target of nil.
    private func occasion(of call: Call) -> (method: String, target: DPoPTarget?) {
        let request = call.request
        if call.isAboutAnotherRequest {
            // Whoever is no proxy of ours could name the very request that a stolen proof was made for.
            guard call.caller.isProxy, let asked = call.forwardedRequest else { return (request.method.rawValue, nil) }
            return asked
        }
        let base = context.issuer.hasSuffix("/") ? String(context.issuer.dropLast()) : context.issuer
        return (request.method.rawValue, DPoPTarget(base + request.target.path))
    }

    /// A proof that turned out when it was to be used not to be good any more is refused as one that never was.
    func toldAtOnce(_ error: any Error, _ call: Call) -> any Error {
        guard case ServiceError.unproven(let problem) = error else { return error }
        let isBesideToken = if case .dpop? = try? call.authorization() { true } else { false }
        return RequestProblem.unproven(problem, withAccessToken: isBesideToken)
    }

    /// Counts a proof that was refused, and gives its maker the nonce with which it would have been taken.
    func appendCure(for error: any Error, to response: inout Response) {
        guard case RequestProblem.unproven(let problem, _) = error else { return }
        metrics.count(problem)
        if let nonce = context.proofs.nonce(curing: problem, at: context.clock.now) {
            response.fields.append("DPoP-Nonce", nonce)
        }
    }

    /// Tells whoever uses proofs which nonce the next one must hold, except in an answer that caches may keep: from there it
    /// would come stale, and to others (RFC 9449 section 8.2).
    func appendNonce(to response: inout Response, _ request: Request) {
        guard request.fields.contains("DPoP"), !response.fields.contains("DPoP-Nonce"),
            (response.fields.first("Cache-Control") ?? "no-store") == "no-store",
            let nonce = context.proofs.nonce(at: context.clock.now)
        else { return }
        response.fields.append("DPoP-Nonce", nonce)
    }
}

extension Call {
    /// Whether a proxy asks for leave (`/v1/verify`) for another request: one that it names, or, where it appends the path, any.
    fileprivate var isAboutAnotherRequest: Bool {
        route.isForwardAuthentication && (appendedTarget != nil || request.fields.contains("X-Forwarded-Uri"))
    }

    /// What a proxy like Envoy has appended to the path of the question: the target of the request that it asks about.
    private var appendedTarget: String? {
        guard route.pattern.hasSuffix("*") else { return nil }
        return String(request.target.path.dropFirst(route.pattern.count - 2))
    }

    /// Method and target of the request that the proxy asks about: as it asks itself where it appends the path, else by the
    /// usual fields. Nil when one of them is missing, stands twice, or cannot be that.
    fileprivate var forwardedRequest: (method: String, target: DPoPTarget?)? {
        guard let scheme = said("X-Forwarded-Proto") else { return nil }
        if let appendedTarget {
            guard let host = said("Host") else { return nil }
            return (request.method.rawValue, DPoPTarget("\(scheme)://\(host)\(appendedTarget)"))
        }
        guard let method = said("X-Forwarded-Method"), let host = said("X-Forwarded-Host"),
            let target = said("X-Forwarded-Uri"), target.hasPrefix("/")
        else { return nil }
        return (method, DPoPTarget("\(scheme)://\(host)\(target)"))
    }

    /// The value of a field that stands once: beside a second one, nobody knows whose it is.
    private func said(_ name: StaticString) -> String? { (try? request.fields.only(name)) ?? nil }
}

extension DPoPError {
    /// The code on the wire (RFC 9449 sections 5 and 8).
    var code: ErrorCode { isCuredByNonce ? .useDPoPNonce : .invalidDPoPProof }

    /// A sentence for developers.
    var sentence: String {
        switch self {
        case .malformed:
            "There is no proof, or it is not a good one: one JWT of the type dpop+jwt, signed by its own key."
        case .otherMethod: "The proof was made for another method."
        case .otherTarget: "The proof was made for another target URI."
        case .otherAccessToken: "The proof was made for another access token."
        case .tooOld: "The proof is too old: it must hold the nonce in DPoP-Nonce, or be made by a right clock."
        case .tooEarly:
            "The proof was made in the future: it must hold the nonce in DPoP-Nonce, or be made by a right clock."
        case .untimely: "The proof has expired, or is not good yet: exp, or nbf."
        case .repeated: "The proof was used before."
        case .nonceMissing: "The proof must hold the nonce in DPoP-Nonce."
        }
    }
}
