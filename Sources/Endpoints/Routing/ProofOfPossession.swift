internal import HTTP
internal import JOSE
internal import OAuth
internal import Sessions

/// Proofs of possession (RFC 9449): reads the field `DPoP`, and checks its proof against the request. Requests without the
/// field skip this code.
extension Endpoints {
    /// The verified proof of possession of the request; nil without the field `DPoP`. Throws if the proof is refused.
    ///
    /// - Parameter isRepeatable: whether the request may arrive twice as it is, as a refresh may.
    func keyProof(
        _ call: Call, accessToken: String? = nil, isRepeatable: Bool = false
    ) throws -> ProofOfPossession? {
        guard call.request.fields.contains("DPoP") else { return nil }
        do throws(DPoPError) {
            // The request must have one proof (RFC 9449 section 4.3, item 1). Two values joined by a comma are unreadable as a
            // JWT.
            let values = call.request.fields.values("DPoP")
            guard values.count == 1 else { throw .malformed }
            let (method, target) = requestToProve(of: call)
            return try context.proofs.check(
                values[0],
                for: ExpectedRequest(
                    method: method, target: target, accessToken: accessToken,
                    repeatable: isRepeatable ? call.repeatable : nil),
                at: context.clock.now)
        } catch {
            throw RequestProblem.unproven(error, withAccessToken: accessToken != nil)
        }
    }

    /// The use of an access token with the scheme `DPoP`, which demands a valid proof (RFC 9449 section 7.1).
    func provenUse(of token: String, _ call: Call) throws -> TokenUse {
        guard let proof = try keyProof(call, accessToken: token) else {
            throw RequestProblem.unproven(.malformed, withAccessToken: true)
        }
        return .proven(proof)
    }

    /// The access token in the `Authorization` field, and its use.
    func presentedToken(_ call: Call) throws -> (token: String, use: TokenUse) {
        switch try call.authorization() {
        case .bearer(let token)?: (token, .bearer)
        case .dpop(let token)?: (token, try provenUse(of: token, call))
        case .basic?, nil: throw RequestProblem.unauthenticated
        }
    }

    /// The method and target that the proof must name: those of the request under the public base URL, or those of the request
    /// about which a proxy asks. A target of nil matches no proof.
    private func requestToProve(of call: Call) -> (method: String, target: DPoPTarget?) {
        let request = call.request
        if call.isAboutAnotherRequest {
            // Only a trusted proxy may name another request, because an attacker could name the request for which a stolen
            // proof was made.
            guard call.caller.isProxy, let asked = call.forwardedRequest else { return (request.method.rawValue, nil) }
            return asked
        }
        return (request.method.rawValue, DPoPTarget(context.url(request.target.path)))
    }

    /// Maps a proof that expired or was used between its check and its use to the error of a proof that fails the check.
    func mappingLateRefusal(_ error: any Error, _ call: Call) -> any Error {
        guard case ServiceError.unproven(let problem) = error else { return error }
        let isBesideToken = if case .dpop? = try? call.authorization() { true } else { false }
        return RequestProblem.unproven(problem, withAccessToken: isBesideToken)
    }

    /// Counts a refused proof, and appends the nonce with which a new proof would be accepted.
    func appendRetryNonce(for error: any Error, to response: inout Response) {
        guard case RequestProblem.unproven(let problem, _) = error else { return }
        metrics.count(problem)
        if let nonce = context.proofs.nonce(curing: problem, at: context.clock.now) {
            response.fields.append("DPoP-Nonce", nonce)
        }
    }

    /// Appends the nonce for the next proof to an answer (RFC 9449 section 8.2). An answer that caches may keep gets none,
    /// because a cache would return a stale nonce, also to other clients.
    func appendNonce(to response: inout Response, _ request: Request) {
        guard request.fields.contains("DPoP"), !response.fields.contains("DPoP-Nonce"),
            (response.fields.first("Cache-Control") ?? "no-store") == "no-store",
            let nonce = context.proofs.nonce(at: context.clock.now)
        else { return }
        response.fields.append("DPoP-Nonce", nonce)
    }
}

extension Call {
    /// What a repetition of the request has in common with it: path, credentials and body. No field value has a NUL.
    fileprivate var repeatable: [UInt8] {
        let credentials = request.fields.values("Authorization").joined(separator: "\0")
        return Array("\(request.target.path)\0\(credentials)\0".utf8) + request.body
    }

    /// True if a proxy asks at `/v1/verify` about another request, which a field names, or which it appends to the path.
    fileprivate var isAboutAnotherRequest: Bool {
        route.isForwardAuthentication && (appendedTarget != nil || request.fields.contains("X-Forwarded-Uri"))
    }

    /// The target of the original request, which a proxy such as Envoy appends to the path.
    private var appendedTarget: String? {
        guard route.pattern.hasSuffix("*") else { return nil }
        return String(request.target.path.dropFirst(route.pattern.count - 2))
    }

    /// The method and target of the request about which the proxy asks: its own method and the appended path, or else the
    /// fields `X-Forwarded-…`. Nil if one of them is missing, repeated or invalid.
    fileprivate var forwardedRequest: (method: String, target: DPoPTarget?)? {
        guard let scheme = singleValue("X-Forwarded-Proto") else { return nil }
        if let appendedTarget {
            guard let host = singleValue("Host") else { return nil }
            return (request.method.rawValue, DPoPTarget("\(scheme)://\(host)\(appendedTarget)"))
        }
        guard let method = singleValue("X-Forwarded-Method"), let host = singleValue("X-Forwarded-Host"),
            let target = singleValue("X-Forwarded-Uri"), target.hasPrefix("/")
        else { return nil }
        return (method, DPoPTarget("\(scheme)://\(host)\(target)"))
    }

    /// The value of a field that occurs once; nil otherwise, because of two values the proxy may have set only one.
    private func singleValue(_ name: StaticString) -> String? { (try? request.fields.only(name)) ?? nil }
}

extension DPoPError {
    /// The error code on the wire (RFC 9449 sections 5 and 8).
    var code: ErrorCode { isCuredByNonce ? .useDPoPNonce : .invalidDPoPProof }

    /// A sentence for developers.
    var sentence: String {
        switch self {
        case .malformed:
            "There is no proof, or it is not valid: one JWT of the type dpop+jwt, signed by its own key."
        case .otherMethod: "The proof was made for another method."
        case .otherTarget: "The proof was made for another target URI."
        case .otherAccessToken: "The proof was made for another access token."
        case .tooOld: "The proof is too old: it must hold the nonce in DPoP-Nonce, or be made by a correct clock."
        case .tooEarly:
            "The proof was made in the future: it must hold the nonce in DPoP-Nonce, or be made by a correct clock."
        case .untimely: "The proof has expired, or is not valid yet: exp, or nbf."
        case .repeated: "The proof was used before."
        case .nonceMissing: "The proof must hold the nonce in DPoP-Nonce."
        }
    }
}
