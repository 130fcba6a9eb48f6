import Foundation
import SojournClient
import SojournTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls to the app's own APIs.
struct ClientRequestTests {
    /// An API that answers as the test says.
    final class API: Sendable {
        typealias Answer = (status: Int, fields: [String: String])
        private let state = Guarded<(requests: [URLRequest], answers: [Answer])>(([], []))

        init(_ answers: [Answer]) { state.withLock { $0.answers = answers } }

        func perform(_ request: URLRequest) throws -> (Data, URLResponse) {
            let answer = state.withLock { state -> Answer in
                state.requests.append(request)
                return state.answers.isEmpty ? (200, [:]) : state.answers.removeFirst()
            }
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.fields)
            else { throw URLError(.badURL) }
            return (Data("body".utf8), response)
        }

        var requests: [URLRequest] { state.withLock { $0.requests } }
        func tokens() -> [String?] { requests.map { $0.value(forHTTPHeaderField: "Authorization") } }
    }

    private func phone(
        _ answers: [API.Answer], renewal: SojournConfiguration.Renewal = .refreshToken
    ) async throws -> (Phone, API) {
        let api = API(answers)
        let phone = try await Phone.signedIn(renewal: renewal) { $0.perform = { try api.perform($0) } }
        phone.clock.advance(by: .seconds(1))
        return (phone, api)
    }

    private func request(_ url: String = "https://api.example/orders?a=b") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: url)))
    }

    @Test func request_carriesTheToken() async throws {
        let (phone, api) = try await phone([])
        let (data, response) = try await phone.sojourn.data(for: try request())
        #expect(response.statusCode == 200 && data == Data("body".utf8))
        let token = try #require(phone.record?.session?.accessToken)
        #expect(api.tokens() == ["Bearer \(token)"])
    }

    @Test func refusedToken_isRenewedOnce_andTheRequestRepeatedOnce() async throws {
        let (phone, api) = try await phone([(401, [:]), (401, [:]), (401, [:])])
        var request = try request()
        request.httpMethod = "POST"
        request.httpBody = Data("content".utf8)
        let (_, response) = try await phone.sojourn.data(for: request)
        #expect(response.statusCode == 401 && phone.wire.renewals.count == 1)
        #expect(api.tokens().count == 2 && Set(api.tokens()).count == 2)
        #expect(api.requests.allSatisfy { $0.httpBody == request.httpBody })
    }

    @Test(
        arguments: [
            (URLError(.cannotConnectToHost) as any Error, "connection refused (URLError -1004)"),
            (OwnError(), "OwnError"),
            (URLError(.cancelled), nil), (CancellationError(), nil),
        ] as [(any Error, String?)])
    func errorOfTheAPI_isOneOfTheSDK(error: any Error, text: String?) async throws {
        let phone = try await Phone.signedIn { $0.perform = { _ in throw error } }
        let thrown = await #expect(throws: SojournError.self) { try await phone.sojourn.data(for: try request()) }
        switch thrown {
        case .unreachable(let cause)?: #expect(text.map { cause.detail.hasPrefix($0) } == true, "\(cause)")
        default: #expect(thrown == .cancelled && text == nil)
        }
    }

    @Test func answerWithoutHTTP_isUnreachable() async throws {
        let phone = try await Phone.signedIn { $0.perform = { (Data(), URLResponse(request: $0)) } }
        await #expect(throws: SojournError.unreachable(Unreachable("the answer is not one of HTTP"))) {
            try await phone.sojourn.data(for: try request())
        }
    }

    @Test func streamedContent_isNotRepeated_andTheNextCallRenews() async throws {
        let (phone, api) = try await phone([(401, [:])])
        var request = try request()
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let (_, response) = try await phone.sojourn.data(for: request)
        #expect(response.statusCode == 401 && api.requests.count == 1 && phone.wire.renewals.isEmpty)
        _ = try await phone.sojourn.data(for: try self.request())
        #expect(phone.wire.renewals.count == 1 && Set(api.tokens()).count == 2)
    }

    @Test func apiThatAsksForTheUser_causesNoRenewal() async throws {
        let challenge = #"Bearer error="insufficient_user_authentication", acr_values="presence""#
        let (phone, api) = try await phone([(401, ["WWW-Authenticate": challenge])])
        let (_, response) = try await phone.sojourn.data(for: try request())
        #expect(response.statusCode == 401 && api.requests.count == 1 && phone.wire.renewals.isEmpty)
    }

    @Test func endOfTheSession_isTold_insteadOfThe401() async throws {
        let (phone, _) = try await phone([(401, [:])])
        try await phone.server.revokeAll("anna")
        await #expect(throws: SojournError.ended(.revokedByAdmin)) {
            try await phone.sojourn.data(for: try request())
        }
    }

    @Test func boundToken_comesWithAProof_forEachRequest() async throws {
        let (phone, api) = try await phone(
            [(401, ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n-7"])],
            renewal: .boundRefreshToken)
        let (_, response) = try await phone.sojourn.data(for: try request())
        #expect(response.statusCode == 200 && phone.wire.renewals.isEmpty)
        let proofs = try api.requests.map { request in
            let proof = try #require(request.value(forHTTPHeaderField: "DPoP"))
            let part = try #require(proof.split(separator: ".").dropFirst().first)
            let claims = try #require(Base64URL.decode(String(part)))
            return try #require(JSONValue(parsing: claims)?.members)
        }
        #expect(proofs.map { $0.text("htu") } == Array(repeating: "https://api.example/orders", count: 2))
        #expect(proofs.map { $0.text("nonce") } == [nil, "n-7"])
        #expect(proofs.allSatisfy { $0.text("ath") != nil } && Set(proofs.map { $0.text("jti") }).count == 2)
        #expect(api.tokens().allSatisfy { $0?.hasPrefix("DPoP ") == true })
    }

    @Test(arguments: ["http://api.example/", "ftp://api.example/"])
    func token_isNotSentInTheClear(url: String) async throws {
        let (phone, api) = try await phone([])
        await #expect(throws: SojournError.self) { try await phone.sojourn.data(for: try request(url)) }
        await #expect(throws: SojournError.self) { try await phone.sojourn.authorize(try request(url)) }
        #expect(api.requests.isEmpty)
        _ = try await phone.sojourn.authorize(try request("http://127.0.0.1:8080/"))
    }
}

private struct OwnError: Error {}

extension URLResponse {
    fileprivate convenience init(request: URLRequest) {
        self.init(
            url: request.url ?? URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0,
            textEncodingName: nil)
    }
}
