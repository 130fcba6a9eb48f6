import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The origins that pages of the tests have.
enum PageOrigin: String, CaseIterable, Sendable {
    case issuer = "https://login.example"
    case own = "https://own.example"
    case ofAnotherClient = "https://other.example"
    case unknown = "https://unknown.example"
    case null
    case upperCase = "https://OWN.example"
    case withPath = "https://own.example/"
    case withPort = "https://own.example:443"
    case longer = "https://own.example.evil.example"
    case twice = "https://own.example, https://own.example"

    /// Whether the client allows it.
    var isAllowed: Bool { self == .issuer || self == .own }

    /// Whether some client has it, or the server.
    var isOfSomeClient: Bool { isAllowed || self == .ofAnotherClient }

    static let foreign = allCases.filter { !$0.isAllowed }
}

extension EndpointsFixture {
    /// Gives the client `mobile` its own origin, and makes another client with another one.
    func makeOrigins() async throws {
        let own = await admin(
            .patch, "/admin/v1/clients/mobile", #"{"allowed_origins":["\#(PageOrigin.own.rawValue)"]}"#)
        #expect(own.strings("allowed_origins") == [PageOrigin.own.rawValue], "\(own.text)")
        _ = try await makeClient(
            #"{"client_id":"other","allowed_origins":["\#(PageOrigin.ofAnotherClient.rawValue)"]}"#)
    }

    /// Sends a request of a page, and checks what no answer may have.
    func send(_ request: Request, from origin: PageOrigin?) async -> Answer {
        var request = request
        if let origin { request.fields.append("Origin", origin.rawValue) }
        let answer = await send(request)
        answer.checkCORS(from: origin, "\(request.method) \(request.target.path)")
        return answer
    }
}

extension Answer {
    /// Whether the page may read it.
    func isReadable(from origin: PageOrigin) -> Bool {
        field("Access-Control-Allow-Origin") == origin.rawValue || field("Access-Control-Allow-Origin") == "*"
    }

    /// Whether it refuses the origin.
    var refusesOrigin: Bool {
        status == 403 && (string("code") == "origin_not_allowed" || string("reason") == "origin_not_allowed")
    }

    /// Checks what holds for each answer: no credentials, no private network, no other origin than that of the page, which some
    /// client has.
    func checkCORS(from origin: PageOrigin?, _ what: String) {
        let fields = response.fields
        #expect(!fields.contains("Access-Control-Allow-Credentials"), "\(what)")
        #expect(!fields.contains("Access-Control-Allow-Private-Network"), "\(what)")
        let allowed = fields.values("Access-Control-Allow-Origin")
        #expect(allowed.count <= 1, "\(what)")
        guard let allowed = allowed.first, allowed != "*" else { return }
        #expect(
            allowed == origin?.rawValue && origin?.isOfSomeClient == true, "\(what) from \(origin?.rawValue ?? "-")")
    }
}
