import FoundationEssentials
import HTTP
import JSON
import Testing

@testable import Endpoints

/// What the routes take that no admin uses.
struct RouteCredentials {
    let user: Tokens
    /// An access token that a client got for itself.
    let client: String
}

extension EndpointsFixture {
    /// The tokens of a user, and an access token of a client that receives security events.
    func routeCredentials() async throws -> RouteCredentials {
        let user = try await logIn()
        let secret = try await makeClient(
            #"""
            {"client_id":"siem","grant_types":["client_credentials"],"scope":"ssf.manage",
             "token_endpoint_auth_method":"client_secret_basic"}
            """#)
        let answer = await form("/oauth/token", "grant_type=client_credentials", basic: "siem:\(secret ?? "")")
        return RouteCredentials(user: user, client: try #require(answer.string("access_token")))
    }

    /// Asks a route with credentials that it takes.
    func ask(
        _ route: Route, _ body: String?, type: String? = "application/json", _ credentials: RouteCredentials,
        query: String = ""
    ) async -> Answer {
        let names = [
            "{user}": "username:anna", "{session_id}": credentials.user.sessionID, "{device_id}": "phone-1",
            "{client_id}": "mobile", "*": "x",
        ]
        let path = names.reduce(route.pattern) { $0.replacing($1.key, with: $1.value) }
        var fields = Fields()
        if let token = token(for: route, credentials) { fields.append("Authorization", "Bearer \(token)") }
        if body != nil, let type { fields.append("Content-Type", type) }
        let request = Request(route.method, path + query, fields: fields, body: Array((body ?? "").utf8))
        let isAdmin = !route.scopes.isEmpty
        return await send(request, on: isAdmin ? .adminSocket : route.listeners == .admin ? .admin : .public)
    }

    /// The token that a route takes in `Authorization`; nil: it takes none, or one in the body as well.
    private func token(for route: Route, _ credentials: RouteCredentials) -> String? {
        switch route.handler {
        case .admin, .streaming: return adminKey
        case .client: return credentials.client
        case .user, .owner: return credentials.user.access
        case .immediate, .open, .openStreaming:
            let schemes = route.operation.security ?? []
            return schemes.isEmpty || schemes.contains(.nothing) ? nil : credentials.user.access
        }
    }
}

extension APIDocument.Parts {
    /// The schema of the JSON that a call takes; nil: it takes none.
    func schema(ofJSON operation: Route.Operation) -> [String: JSONValue]? {
        switch operation.takes {
        case .json(let name, _): schemas[name]?.members
        case .inlineJSON: bodies[operation.id]?.members["schema"]?.members
        case .form, .optionalForm, .picture, nil: nil
        }
    }

    /// The schema of the form that a call takes; nil: it takes none.
    func schema(ofForm operation: Route.Operation) -> [String: JSONValue]? {
        switch operation.takes {
        case .form, .optionalForm: bodies[operation.id]?.members["schema"]?.members
        case .json, .inlineJSON, .picture, nil: nil
        }
    }
}
