public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Sojourn {
    /// The request with an access token: in `Authorization`, and with a proof of the key if the token is bound.
    public func authorize(_ request: URLRequest) async throws(SojournError) -> URLRequest {
        try await authorize(request, by: try await accessToken())
    }

    /// Sends a request to an API with an access token.
    ///
    /// If the API answers 401, the token is renewed once, and the request is sent once more. A request whose content is a stream
    /// is not sent again, because the stream has been read. If the API asks for the user (RFC 9470), its answer is returned, and
    /// the state becomes `presenceRequired`: after `unlock` the app sends the request again. If the API does not answer, the
    /// error is `unreachable`, with the text of the error of `perform`.
    public func data(for request: URLRequest) async throws(SojournError) -> (Data, HTTPURLResponse) {
        var token = try await accessToken()
        var (isRenewed, isSignedAgain) = (false, false)
        while true {
            let (data, response) = try await perform(try await authorize(request, by: token))
            if let url = request.url { note(nonce: response.value(forHTTPHeaderField: "DPoP-Nonce"), from: url) }
            guard response.statusCode == 401 else { return (data, response) }
            let challenge = response.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
            if challenge.contains("insufficient_user_authentication") {
                note(PresenceRequirement(challenge: challenge))
                return (data, response)
            }
            guard request.httpBodyStream == nil else {
                reject(token)
                return (data, response)
            }
            if challenge.contains("use_dpop_nonce"), !isSignedAgain {
                isSignedAgain = true
            } else if !isRenewed {
                isRenewed = true
                do throws(SojournError) { token = try await accessToken(.renewed(after: token)) } catch {
                    if error == .noOtherToken { return (data, response) }
                    throw error
                }
            } else {
                return (data, response)
            }
        }
    }

    private func perform(_ request: URLRequest) async throws(SojournError) -> (Data, HTTPURLResponse) {
        let (data, response): (Data, URLResponse)
        do { (data, response) = try await configuration.perform(request) } catch {
            throw SojournError(performing: error)
        }
        guard let response = response as? HTTPURLResponse else {
            throw .unreachable(Unreachable("the answer is not one of HTTP"))
        }
        return (data, response)
    }

    private func authorize(
        _ request: URLRequest, by token: AccessToken
    ) async throws(SojournError) -> URLRequest {
        guard let url = request.url else { throw .misconfigured("the request has no URL") }
        var request = request
        for field in try await authorization(request.httpMethod ?? "GET", url, by: token) {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
        return request
    }
}

extension SojournError {
    /// The error of a call for an error of `SojournConfiguration.perform`.
    init(performing error: any Error) {
        switch error {
        case let error as SojournError: self = error
        case is CancellationError: self = .cancelled
        case let error as URLError where error.code == .cancelled: self = .cancelled
        case let error as URLError: self = .unreachable(Unreachable(error.code.text))
        default: self = .unreachable(Unreachable("\(error)"))
        }
    }
}

extension PresenceRequirement {
    /// The requirement in a challenge of `WWW-Authenticate` (RFC 9470 §3).
    init(challenge: String) {
        func value(_ name: String) -> Substring? {
            guard let start = challenge.range(of: "\(name)=\"")?.upperBound else { return nil }
            return challenge[start...].prefix { $0 != "\"" }
        }
        self.init(
            ways: (value("acr_values") ?? "").split(separator: " ").map(String.init),
            maxAge: value("max_age").flatMap { Int64($0) })
    }
}
