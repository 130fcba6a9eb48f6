internal import HTTP
internal import JOSE
internal import OAuth
internal import Sessions

/// Proofs of possession (RFC 9449): the field `DPoP`, and the request that its proof must have been made for. A request
/// without that field costs nothing here.
extension Endpoints {
    /// The thumbprint of the key of which the request holds a good proof; nil when it holds none at all.
    func provenKey(_ call: Call, accessToken: String? = nil) throws -> String? {
        guard call.request.fields.contains("DPoP") else { return nil }
        do throws(ProofProblem) {
            // RFC 9449 section 4.3 point 1: not more than one. In a field that is joined, a comma makes it unreadable.
            let values = call.request.fields.values("DPoP")
            guard values.count == 1 else { throw .malformed }
            let (method, target) = occasion(of: call)
            return try context.proofs.keyThumbprint(
                provenBy: values[0],
                for: ProofOccasion(method: method, target: target, accessToken: accessToken), at: context.clock.now)
        } catch {
            metrics.count(error)
            throw RequestProblem.unproven(error, withAccessToken: accessToken != nil)
        }
    }

    /// How the access token was presented, which came by the scheme `DPoP`: with a good proof (RFC 9449 section 7.1).
    func provenUse(of token: String, _ call: Call) throws -> TokenUse {
        guard let key = try provenKey(call, accessToken: token) else {
            throw RequestProblem.unproven(.malformed, withAccessToken: true)
        }
        return .proven(keyThumbprint: key)
    }

    /// The access token in the `Authorization` field, and how it was presented.
    func presentedToken(_ call: Call) throws -> (token: String, use: TokenUse) {
        switch try call.authorization() {
        case .bearer(let token)?: (token, .bearer)
        case .dpop(let token)?: (token, try provenUse(of: token, call))
        case .basic?, nil: throw RequestProblem.unauthenticated
        }
    }

    /// Method and target for which the proof must have been made: those of the request itself under the public base URL. A
    /// proxy that asks for leave (`/v1/verify`) asks about another request, which it names by the usual fields.
    private func occasion(of call: Call) -> (method: String, target: DPoPTarget?) {
        let request = call.request
        if call.route.isForwardAuthentication, let path = request.fields.first("X-Forwarded-Uri") {
            let method = request.fields.first("X-Forwarded-Method") ?? request.method.rawValue
            guard let scheme = request.fields.first("X-Forwarded-Proto"),
                let host = request.fields.first("X-Forwarded-Host")
            else { return (method, nil) }
            return (method, DPoPTarget("\(scheme)://\(host)\(path)"))
        }
        let base = context.issuer.hasSuffix("/") ? String(context.issuer.dropLast()) : context.issuer
        return (request.method.rawValue, DPoPTarget(base + request.target.path))
    }

    /// Tells whoever uses proofs which nonce the next one must hold, except in an answer that caches may keep: from there it
    /// would come stale, and to others (RFC 9449 section 8.2).
    func appendNonce(to response: inout Response, _ request: Request) {
        guard request.fields.contains("DPoP"), (response.fields.first("Cache-Control") ?? "no-store") == "no-store",
            let nonce = context.proofs.nonce(at: context.clock.now)
        else { return }
        response.fields.append("DPoP-Nonce", nonce)
    }
}

extension ProofProblem {
    /// The code on the wire (RFC 9449 sections 5 and 8).
    var code: ErrorCode { self == .nonceMissing ? .useDPoPNonce : .invalidDPoPProof }

    /// A sentence for developers.
    var sentence: String {
        switch self {
        case .malformed:
            "There is no proof, or it is not a good one: one JWT of the type dpop+jwt, signed by its own key."
        case .otherMethod: "The proof was made for another method."
        case .otherTarget: "The proof was made for another target URI."
        case .otherAccessToken: "The proof was made for another access token."
        case .tooOld: "The proof is too old."
        case .tooEarly: "The proof was made in the future."
        case .repeated: "The proof was used before."
        case .nonceMissing: "The proof must hold the nonce in DPoP-Nonce."
        }
    }
}
