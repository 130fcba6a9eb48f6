import Cryptography
import HTTP
import JOSE
import JSON
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Resource indicators, clause by clause: for which APIs a token is.
@Suite struct RFC8707Tests {
    private static let one = "https://one.example/api"
    private static let two = "urn:example:two"
    private static let own = "grant_type=client_credentials"

    /// A request of the client `shop`, which has two resources and all grants, and what comes of it.
    private struct Row: Sendable, CustomTestStringConvertible {
        let clause: String
        let says: String
        let form: String
        /// The `aud` of the token; nil: refused with `error`.
        let audience: [String]?
        var error = "invalid_target"

        init(_ clause: String, _ says: String, _ form: String, _ audience: [String]?, _ error: String? = nil) {
            (self.clause, self.says, self.form, self.audience) = (clause, says, form, audience)
            if let error { self.error = error }
        }

        var testDescription: String { "\(clause): \(says)" }
    }

    private static let refresh = "grant_type=refresh_token&refresh_token={refresh}"
    private static let password = "grant_type=password&username=anna&password=correct+horse&device_id=other"
    private static let rows: [Row] = [
        Row("2", "none is asked for", own, [EndpointsFixture.audience]),
        Row("2", "an empty one counts as omitted", own + "&resource=", [EndpointsFixture.audience]),
        Row("2", "one that the client can have", own + "&resource=\(one)", [one]),
        Row("2", "a URN is a URI", own + "&resource=\(two)", [two]),
        Row("2", "the parameter may be repeated", own + "&resource=\(one)&resource=\(two)", [one, two]),
        Row("2", "the same one twice is one", own + "&resource=\(one)&resource=\(one)", [one]),
        Row(
            "2", "beside the server's own", own + "&resource=\(two)&resource=\(EndpointsFixture.audience)",
            [two, EndpointsFixture.audience]),
        Row("2", "no fragment", own + "&resource=\(one)%23part", nil),
        Row("2", "no empty fragment", own + "&resource=\(one)%23", nil),
        Row("2", "absolute alone", own + "&resource=/api", nil),
        Row("2", "no URI", own + "&resource=one", nil),
        Row("2", "an unknown one", own + "&resource=https://three.example", nil),
        Row("2", "one unknown beside a good one", own + "&resource=\(one)&resource=https://three.example", nil),
        Row("2", "not a part of one", own + "&resource=https://one.example", nil),
        Row("2", "nor more than one", own + "&resource=\(one)/more", nil),
        Row("2", "as it stands, byte for byte", own + "&resource=HTTPS://one.example/api", nil),
        Row("2", "two in one value", own + "&resource=\(one)+\(two)", nil),
        Row("2.2", "a refresh asks for one", refresh + "&resource=\(one)", [one]),
        Row("2.2", "a refresh asks for two", refresh + "&resource=\(two)&resource=\(one)", [two, one]),
        Row("2.2", "a refresh asks for none", refresh, [EndpointsFixture.audience]),
        Row("2.2", "a refresh asks for too much", refresh + "&resource=https://three.example", nil),
        Row("2.2", "with the password", password + "&resource=\(one)", [one]),
        Row("2.2", "with the password, too much", password + "&resource=x:y", nil),
        Row("RFC 6749 3.2", "other parameters stand once", own + "&scope=read&scope=read", nil, "invalid_request"),
        Row("RFC 6749 3.2", "audience too", own + "&audience=a&audience=a", nil, "invalid_request"),
    ]

    /// A refresh of a session after a login that has asked for both resources, and what comes of it.
    private static let granted: [Row] = [
        Row("2.2", "none: all of the grant", refresh, [one, two]),
        Row("2.2", "an empty one counts as omitted", refresh + "&resource=", [one, two]),
        Row("2.2", "one of the grant", refresh + "&resource=\(two)", [two]),
        Row("2.2", "all of the grant, in another order", refresh + "&resource=\(two)&resource=\(one)", [two, one]),
        Row(
            "2.2", "not the server's own, which was not granted", refresh + "&resource=\(EndpointsFixture.audience)",
            nil),
        Row("2.2", "nor beside a granted one", refresh + "&resource=\(one)&resource=\(EndpointsFixture.audience)", nil),
        Row("2.2", "nor what nobody has", refresh + "&resource=https://three.example", nil),
    ]

    /// The rows for a login that has asked for the first one and the server's own.
    private static let partlyGranted: [Row] = [
        Row("2.2", "none: all of the grant", refresh, [one, EndpointsFixture.audience]),
        Row(
            "2.2", "the server's own, which was granted", refresh + "&resource=\(EndpointsFixture.audience)",
            [EndpointsFixture.audience]),
        Row("2.2", "not what the client could have had", refresh + "&resource=\(two)", nil),
        Row("2.2", "nor beside a granted one", refresh + "&resource=\(one)&resource=\(two)", nil),
    ]

    private struct World {
        let server: EndpointsFixture
        let basic: String
        let tokens: Tokens

        func token(_ form: String) async -> Answer {
            await server.form("/oauth/token", form.replacing("{refresh}", with: tokens.refresh), basic: basic)
        }

        func issue(_ form: String) async throws -> String { try #require(await token(form).string("access_token")) }

        func introspect(_ token: String) async -> Answer {
            await server.form("/oauth/introspect", "token=\(token)", basic: basic)
        }
    }

    /// A world with a login that asks for `resources`.
    private static func with(_ resources: String..., body: (World) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            let secret = try await server.makeClient(
                #"""
                {"client_id":"shop","token_endpoint_auth_method":"client_secret_basic","scope":"read",
                 "resources":["\#(one)","\#(two)"],"grant_types":["client_credentials","refresh_token","password"]}
                """#)
            let basic = "shop:\(try #require(secret))"
            let tokens = try Tokens(
                await server.form(
                    "/oauth/token",
                    resources.reduce(password.replacing("other", with: "phone")) { "\($0)&resource=\($1)" },
                    basic: basic))
            try await body(World(server: server, basic: basic, tokens: tokens))
        }
    }

    private static func audience(_ token: String) throws -> [String] {
        switch try tokenParts(token).claims["aud"] {
        case .string(let name): [name]
        case .array(let names): names.compactMap(\.string)
        default: []
        }
    }

    private static func check(_ row: Row, in world: World) async throws {
        let answer = await world.token(row.form)
        if let audience = row.audience {
            #expect(answer.status == 200, "\(row.testDescription): \(answer.text)")
            let found = try Self.audience(try #require(answer.string("access_token")))
            #expect(found == audience, "\(row.testDescription)")
        } else {
            #expect(answer.status == 400, "\(row.testDescription): \(answer.text)")
            #expect(answer.string("error") == row.error, "\(row.testDescription)")
        }
    }

    @Test(arguments: rows.indices) func row(_ index: Int) async throws {
        try await Self.with { world in try await Self.check(Self.rows[index], in: world) }
    }

    /// Section 2.2: the refresh token is bound to the full grant of the login, and a narrower token in between changes nothing
    /// of that. So all rows hold of one session, one after the other.
    @Test func aRefreshChoosesAmongWhatWasGranted() async throws {
        try await Self.with(Self.one, Self.two) { world in
            #expect(try Self.audience(world.tokens.access) == [Self.one, Self.two])
            for row in Self.granted { try await Self.check(row, in: world) }
        }
        try await Self.with(Self.one, EndpointsFixture.audience, Self.one) { world in
            #expect(try Self.audience(world.tokens.access) == [Self.one, EndpointsFixture.audience])
            for row in Self.partlyGranted { try await Self.check(row, in: world) }
        }
    }

    /// What an admin takes from the client is not granted any more; when nothing is left of the grant, there is no token
    /// for something else instead, and what comes back to the client comes back to the session.
    @Test func aGrantShrinksWithItsClient() async throws {
        try await Self.with(Self.one, Self.two) { world in
            func allow(_ list: String) async {
                let answer = await world.server.admin(.patch, "/admin/v1/clients/shop", #"{"resources":[\#(list)]}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            await allow(#""\#(Self.two)","https://three.example""#)
            let narrowed = try await world.issue(Self.refresh)
            #expect(try Self.audience(narrowed) == [Self.two])
            #expect(await world.token(Self.refresh + "&resource=\(Self.one)").string("error") == "invalid_target")
            #expect(
                await world.token(Self.refresh + "&resource=https://three.example").string("error") == "invalid_target")
            await allow(#""https://three.example""#)
            #expect(await world.token(Self.refresh).string("error") == "invalid_target")
            await allow(#""\#(Self.one)","\#(Self.two)""#)
            let whole = try await world.issue(Self.refresh)
            #expect(try Self.audience(whole) == [Self.one, Self.two])
        }
    }

    /// Refused before anything is written: the refresh token is not spent.
    @Test func aRefusedResourceSpendsNothing() async throws {
        try await Self.with { world in
            world.server.moveClock(to: 3600)
            #expect(await world.token(Self.refresh + "&resource=x:y").string("error") == "invalid_target")
            let id = try #require(Identifier<Session>(world.tokens.sessionID))
            let record = try await world.server.store.session(id)
            #expect(record?.session.child == 1)
            #expect(await world.token(Self.refresh + "&resource=\(Self.one)").status == 200)
        }
    }

    /// Section 3: a token for one API opens no other, and of those none is the server's own.
    @Test func aTokenOpensItsOwnResourceAlone() async throws {
        try await Self.with { world in
            let one = try await world.issue(Self.refresh + "&resource=\(Self.one)")
            let both = try await world.issue(
                Self.refresh + "&resource=\(Self.one)&resource=\(EndpointsFixture.audience)")
            let client = try await world.issue(Self.own + "&resource=\(Self.one)")
            func opens(_ token: String, _ target: String) async -> Bool {
                await world.server.call(.get, target, bearer: token).status == 200
            }
            for (token, isOwn) in [(one, false), (both, true), (client, false)] {
                #expect(await opens(token, "/v1/verify") == isOwn)
                #expect(await opens(token, "/v1/verify?audience=\(Self.one)"))
                #expect(await !opens(token, "/v1/verify?audience=\(Self.two)"))
                #expect(await !opens(token, "/v1/verify?audience=https://three.example"))
                // What stands behind an appended path is the query of the original request.
                #expect(await opens(token, "/v1/verify/x?audience=\(Self.one)") == isOwn)
            }
            #expect(await !opens(one, "/v1/me"))
            #expect(await opens(both, "/v1/me"))
            let answer = await world.server.call(.get, "/v1/verify?audience=\(Self.one)", bearer: both)
            #expect(answer.field("X-Audience") == "\(Self.one) \(EndpointsFixture.audience)")
            #expect(await !opens(world.tokens.access, "/v1/verify?audience=\(Self.one)"))
        }
    }

    /// Introspection names the audience, and what an admin takes away from the client is gone at once.
    @Test func introspectionNamesTheAudience() async throws {
        try await Self.with { world in
            let session = try await world.issue(Self.refresh + "&resource=\(Self.one)&resource=\(Self.two)")
            let client = try await world.issue(Self.own + "&resource=\(Self.one)")
            #expect(await world.introspect(session).strings("aud") == [Self.one, Self.two])
            #expect(await world.introspect(client).string("aud") == Self.one)
            #expect(await world.introspect(world.tokens.access).string("aud") == EndpointsFixture.audience)
            let changed = await world.server.admin(
                .patch, "/admin/v1/clients/shop", #"{"resources":["\#(Self.two)"]}"#)
            #expect(changed.strings("resources") == [Self.two])
            #expect(await world.introspect(session).string("aud") == Self.two)
            #expect(await world.introspect(client).bool("active") == false)
            #expect(
                await world.server.call(.get, "/v1/verify?audience=\(Self.one)", bearer: session).status == 401)
        }
    }

    /// RFC 7662 section 4 and RFC 9701 section 5: a token is active for the API alone that it is for. A caller that does not name it
    /// compares `aud` itself.
    @Test(arguments: [false, true]) func aTokenIsActiveForItsOwnAPIAlone(_ isSigned: Bool) async throws {
        try await Self.with { world in
            let fields: Fields = isSigned ? ["Accept": "application/token-introspection+jwt"] : Fields()
            func isActive(_ token: String, for audience: String) async throws -> Bool {
                let answer = await world.server.form(
                    "/oauth/introspect", "token=\(token)&token_type_hint=refresh_token\(audience)",
                    basic: world.basic, fields: fields)
                #expect(answer.status == 200, "\(answer.text)")
                var members = answer.text
                if isSigned {
                    let payload = try #require(answer.text.split(separator: ".").dropFirst().first)
                    members = String(decoding: try #require(Base64URL.decode(payload)), as: UTF8.self)
                }
                let isActive = members.contains(#""active":true"#)
                // And nothing else is told.
                #expect(isActive || members.contains(#"{"active":false}"#), "\(members)")
                return isActive
            }
            let session = try await world.issue(Self.refresh + "&resource=\(Self.one)")
            let client = try await world.issue(Self.own + "&resource=\(Self.one)&resource=\(Self.two)")
            for (token, good) in [
                (session, [Self.one]), (client, [Self.one, Self.two]),
                (world.tokens.access, [EndpointsFixture.audience]),
                (world.tokens.refresh, []),
            ] {
                for audience in [
                    Self.one, Self.two, EndpointsFixture.audience, "https://three.example", "\(Self.one)/",
                ] {
                    #expect(try await isActive(token, for: "&audience=\(audience)") == good.contains(audience))
                }
                #expect(try await isActive(token, for: ""))
            }
        }
    }

    @Test(arguments: [
        #"["x"]"#, #"["https://a/#b"]"#, #"["/a"]"#, #"["https://a b"]"#, #"["https://a","https://a"]"#, #"[1]"#,
        #""https://a""#, "null", #"["x:%zz"]"#, #"["x:é"]"#, #"["1:a"]"#, #"["x:"]"#, #"[":x"]"#,
        #"["a:1","a:2","a:3","a:4","a:5","a:6","a:7","a:8","a:9"]"#,
    ])
    func anAdminListsAbsoluteURIsAlone(_ list: String) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"resources":\#(list)}"#)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("member") == "resources", "\(answer.text)")
        }
    }
}
