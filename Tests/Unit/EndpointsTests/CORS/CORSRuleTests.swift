import FoundationEssentials
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The rules of CORS over every route of the public listener, by the table.
@Suite struct CORSRuleTests {
    private static let routes = Route.all.filter { $0.listeners != .admin }

    /// The fields that only answers to pages have.
    private static let names: [StaticString] = [
        "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers", "Access-Control-Max-Age",
    ]

    private static func path(_ route: Route) -> String {
        route.pattern.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") || $0 == "*" ? "x" : String($0) }.joined(separator: "/")
    }

    @Test("Every public route has decided which pages may read its answers, and no page has such answers")
    func decisions() {
        for route in Self.routes {
            #expect(route.isCORSDecided, "\(route.name)")
            if route.errorFormat == .page || route.isForwardAuthentication || route.listeners == .admin {
                #expect(route.cors == .noOrigin, "\(route.name)")
            }
        }
        let everyOrigin = Self.routes.filter { $0.cors == .everyOrigin }
        #expect(
            everyOrigin.map(\.pattern).sorted() == [
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/oauth/jwks",
                "/openapi.json",
            ])
        #expect(everyOrigin.allSatisfy { $0.method == .get })
        for pattern in ["/oauth/introspect", "/oauth/bc-authorize", "/oauth/authorize", "/oauth/logout", "/healthz"] {
            #expect(Self.routes.filter { $0.pattern == pattern }.allSatisfy { $0.cors == .noOrigin }, "\(pattern)")
        }
        #expect(Self.routes.filter { $0.pattern.hasPrefix("/v1/") }.count > 60)
        #expect(
            Self.routes.filter { $0.pattern.hasPrefix("/v1/") && !$0.isForwardAuthentication }
                .allSatisfy { $0.cors == .client || $0.cors == .anyClient })
    }

    @Test("Errors of every route have the fields of its row for every origin, and nothing else")
    func errors() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            for route in Self.routes {
                for origin in [nil] + PageOrigin.allCases.map(Optional.some) {
                    let request = Request(
                        route.method, Self.path(route), fields: ["Content-Type": "application/x-unknown"],
                        body: Array("x".utf8))
                    let answer = await server.send(request, from: origin)
                    Self.check(answer, route, origin)
                }
            }
        }
    }

    /// Checks the fields of an answer without a verified client.
    private static func check(_ answer: Answer, _ route: Route, _ origin: PageOrigin?) {
        let what = "\(route.name) from \(origin?.rawValue ?? "-"): \(answer.status)"
        switch route.cors {
        case .noOrigin:
            for name in names { #expect(!answer.response.fields.contains(name), "\(what)") }
            #expect(!answer.response.fields.values("Vary").contains("Origin"), "\(what)")
        case .everyOrigin:
            #expect(answer.field("Access-Control-Allow-Origin") == "*", "\(what)")
            #expect(!answer.response.fields.values("Vary").contains("Origin"), "\(what)")
        case .client, .anyClient:
            #expect(answer.response.fields.values("Vary").contains("Origin") == (origin != nil), "\(what)")
            guard let origin else {
                for name in names { #expect(!answer.response.fields.contains(name), "\(what)") }
                return
            }
            let isReadable = answer.isReadable(from: origin)
            if answer.status >= 400 { #expect(isReadable == origin.isOfSomeClient, "\(what)") }
            #expect(
                answer.field("Access-Control-Expose-Headers")
                    == (isReadable
                        ? "DPoP-Nonce, WWW-Authenticate, Retry-After, Date, Age, X-Request-Id" : nil),
                "\(what)")
        }
    }

    @Test("Calls of a user take the origins of the session's client alone, before they look at the request")
    func calls() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            let tokens = try await server.logIn()
            for route in Self.routes {
                switch route.handler {
                case .user, .owner: break
                case .immediate, .open, .client, .admin, .streaming, .openStreaming: continue
                }
                let request = Request(
                    route.method, Self.path(route),
                    fields: ["Authorization": "Bearer \(tokens.access)", "Content-Type": "application/x-unknown"],
                    body: route.method == .get ? [] : Array("x".utf8))
                for origin in PageOrigin.foreign {
                    let answer = await server.send(request, from: origin)
                    #expect(answer.refusesOrigin, "\(route.name) \(origin) \(answer.status) \(answer.text)")
                    #expect(!answer.isReadable(from: origin), "\(route.name) \(origin)")
                }
                if route.method == .delete { continue }
                for origin in [PageOrigin.own, .issuer] {
                    let answer = await server.send(request, from: origin)
                    #expect(answer.isReadable(from: origin), "\(route.name) \(origin) \(answer.status)")
                    #expect(!answer.refusesOrigin, "\(route.name) \(origin)")
                }
            }
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
        }
    }

    @Test(
        "A call succeeds from the client's own origin, and is refused from every other one before anything is decided")
    func successes() async throws {
        let open = Self.routes.filter { route in
            guard route.cors == .client || route.cors == .anyClient else { return false }
            switch route.handler {
            case .open, .immediate, .openStreaming: return true
            case .user, .owner, .client, .admin, .streaming: return false
            }
        }
        let missing = Set(open.map(\.name)).subtracting(CORSRecipe.all.map(\.route))
        #expect(missing.isEmpty, "a recipe in CORSRecipes.swift shows that the call notes its client")
        for recipe in CORSRecipe.all {
            let route = try #require(open.first { $0.name == recipe.route }, "\(recipe.route)")
            try await CORSRecipe.with { world in
                let request = try await recipe.request(world)
                for origin in PageOrigin.foreign {
                    let answer = await world.server.send(request, from: origin)
                    guard route.cors == .client else {
                        if answer.isReadable(from: origin) { #expect(origin.isOfSomeClient, "\(recipe)") }
                        continue
                    }
                    #expect(answer.refusesOrigin, "\(recipe.name) \(origin) \(answer.status) \(answer.text)")
                    #expect(!answer.isReadable(from: origin), "\(recipe.name) \(origin)")
                }
                let again = route.cors == .client ? request : try await recipe.request(world)
                let answer = await world.server.send(again, from: .own)
                #expect(answer.response.status.isSuccess, "\(recipe.name) \(answer.status) \(answer.text)")
                #expect(answer.isReadable(from: .own), "\(recipe.name)")
            }
        }
    }

    @Test("A client without origins ignores the field, and no page of another origin reads what it gets")
    func withoutOrigins() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            _ = try await server.makeClient(
                #"{"client_id":"other","allowed_origins":["\#(PageOrigin.ofAnotherClient.rawValue)"]}"#)
            for origin in PageOrigin.allCases where origin != .issuer {
                let fields: Fields = ["Authorization": "Bearer \(tokens.access)"]
                let answer = await server.send(Request(.get, "/v1/me", fields: fields), from: origin)
                #expect(answer.status == 200 && !answer.isReadable(from: origin), "\(origin)")
                #expect(answer.field("Vary") == "Origin")
            }
        }
    }

    @Test("The switch for logins, which takes a password, is readable from the origins of all clients")
    func loginSettings() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            let credentials = Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString()
            let request = Request(
                .put, "/v1/me/login-settings",
                fields: ["Authorization": "Basic \(credentials)", "Content-Type": "application/json"],
                body: Array(#"{"logins_disabled":false}"#.utf8))
            for origin in PageOrigin.allCases {
                let answer = await server.send(request, from: origin)
                #expect(answer.status == 200 && answer.isReadable(from: origin) == origin.isOfSomeClient, "\(origin)")
            }
        }
    }

    @Test("An origin that was removed is refused at the next request")
    func removed() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            let tokens = try await server.logIn()
            let request = Request(.get, "/v1/me", fields: ["Authorization": "Bearer \(tokens.access)"])
            #expect(await server.send(request, from: .own).status == 200)
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"allowed_origins":["https://new.example"]}"#)
            #expect(await server.send(request, from: .own).refusesOrigin)
        }
    }

    @Test("Answers of rate limits and of a store that fails are readable")
    func limits() async throws {
        try await EndpointsFixture.with { server in
            try await server.makeOrigins()
            let body = #"{"username":"anna","password":"wrong","device":{"id":"p"}}"#
            let request = Request(
                .post, "/v1/login", fields: ["Content-Type": "application/json"], body: Array(body.utf8))
            var answer = await server.send(request, from: .own)
            for _ in 0..<50 where answer.status != 429 { answer = await server.send(request, from: .own) }
            #expect(answer.status == 429 && answer.isReadable(from: .own) && answer.field("Retry-After") != nil)
            #expect(answer.field("Access-Control-Expose-Headers")?.contains("Retry-After") == true)
        }
    }
}
