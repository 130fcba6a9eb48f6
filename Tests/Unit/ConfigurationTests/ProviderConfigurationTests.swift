import Cryptography
import Federation
import FoundationEssentials
import HTTPClient
import Repository
import Sessions
import Testing

@testable import Configuration

/// `identity_providers`: what becomes of good entries, and a line for each mistake.
@Suite struct ProviderConfigurationTests {
    private static func providers(_ text: String) throws -> [IdentityProvider] {
        var sources = ServerConfiguration.Sources()
        sources.file = ("f", Array(text.utf8))
        return try ServerConfiguration(from: sources).identityProviders
    }

    private static func problems(_ entry: String) -> [String] {
        var sources = ServerConfiguration.Sources()
        sources.file = ("f", Array("{identity_providers: [\(entry)]}".utf8))
        do {
            _ = try ServerConfiguration(from: sources)
            return []
        } catch { return error.lines }
    }

    private static let least = "name: 'acme', issuer: 'https://acme.example', audiences: ['app']"

    @Test func leastEntry_hasTheDefaults() throws {
        let provider = try #require(try Self.providers("{identity_providers: [{\(Self.least)}]}").first)
        #expect(provider.keysURL == nil)
        #expect(provider.discoveryURL?.description == "https://acme.example/.well-known/openid-configuration")
        #expect(provider.algorithms == [.rs256, .es256])
        #expect(!provider.linksByProvenEmail && !provider.trustsMFA)
    }

    @Test func everyMember_isTaken() throws {
        let provider = try #require(
            try Self.providers(
                """
                {identity_providers: [{\(Self.least), jwks_uri: 'http://127.0.0.1:1/k', allow_http_on_loopback: true,
                 algorithms: ['EdDSA'], nonce: 'required', nonce_form: 'sha256', token_age_seconds: 60,
                 key_lifetime_seconds: 61, stale_key_seconds: 62, ca_file: '/ca.pem', link_by_proven_email: true, trusts_mfa: true,
                 claims: {username: null, email: 'emails', country: 'ctry'}}]}
                """
            ).first)
        #expect(provider.keysURL?.description == "http://127.0.0.1:1/k")
        #expect(provider.discoveryURL == nil)
        #expect(provider.algorithms == [.eddsa])
        #expect(provider.nonce == .required && provider.nonceForm == .sha256)
        #expect(provider.tokenAge == .seconds(60) && provider.keyLifetime == .seconds(61))
        #expect(provider.staleKeyLifetime == .seconds(62) && provider.authorities == "/ca.pem")
        #expect(provider.linksByProvenEmail && provider.trustsMFA)
        #expect(provider.claims.username == nil && provider.claims.email == "emails")
        #expect(provider.claims.country == "ctry" && provider.claims.displayName == "name")
    }

    @Test func asking_again_isTaken() throws {
        let entry = """
            {identity_providers: [{\(Self.least), recheck_interval_seconds: 3600, recheck_outage_seconds: 60,
             recheck_required: true, token_endpoint: 'https://login.acme.example/token', client_id: 'web',
             client_secret_file: '/secret', client_authentication: 'client_secret_post',
             recheck_without_id_token: true, recheck_concurrency: 3, recheck_rate: 4}]}
            """
        let recheck = try #require(try Self.providers(entry).first?.recheck)
        #expect(
            recheck.terms == RecheckTerms(interval: .seconds(3600), outageBudget: .seconds(60), isRequired: true))
        #expect(recheck.tokenURL?.description == "https://login.acme.example/token")
        #expect(recheck.clientID == "web" && recheck.clientSecretFile == "/secret" && recheck.clientSecret == nil)
        #expect(recheck.clientAuthentication == .post && recheck.takesNoIDToken)
        #expect(recheck.concurrency == 3 && recheck.rate == 4)
        let least = try Self.providers("{identity_providers: [{\(Self.least), recheck_interval_seconds: 7200}]}")
        #expect(least.first?.recheck?.terms == RecheckTerms(interval: .seconds(7200), outageBudget: .seconds(7200)))
        #expect(try Self.providers("{identity_providers: [{\(Self.least)}]}").first?.recheck == nil)
    }

    @Test func redirect_isTaken() throws {
        let entry = """
            {identity_providers: [{\(Self.least), redirect: true, client_id: 'web', client_secret_file: '/secret',
             client_authentication: 'client_secret_post', display_name: 'Acme', scope: 'openid email',
             authorization_endpoint: 'https://login.acme.example/authorize', force_login: false,
             token_endpoint: 'https://login.acme.example/token', require_auth_time: true}]}
            """
        let provider = try #require(try Self.providers(entry).first)
        let redirect = try #require(provider.redirect)
        #expect(redirect.clientID == "web" && redirect.clientSecretFile == "/secret" && redirect.clientSecret == nil)
        #expect(redirect.clientAuthentication == .post && redirect.title == "Acme" && redirect.scope == "openid email")
        #expect(redirect.authorizationURL?.description == "https://login.acme.example/authorize")
        #expect(redirect.tokenURL?.description == "https://login.acme.example/token")
        #expect(redirect.forcesLogin == false && redirect.requiresAuthenticationTime)
        #expect(provider.recheck == nil)
        let least = try Self.providers("{identity_providers: [{\(Self.least), redirect: true, client_id: 'web'}]}")
        #expect(least.first?.redirect?.forcesLogin == nil && least.first?.redirect?.title == least.first?.name)
        #expect(try Self.providers("{identity_providers: [{\(Self.least)}]}").first?.redirect == nil)
    }

    @Test(arguments: [
        ("{\(least), redirect: true}", "identity_providers[0].client_id is missing"),
        ("{\(least), force_login: true}", "force_login is for a provider with redirect"),
        ("{\(least), redirect: true, client_id: 'w', scope: 'email'}", "scope must be scopes with openid"),
        ("{\(least), redirect: true, client_id: 'w', jwks_uri: 'https://a/'}", "needs authorization_endpoint and"),
        (
            "{\(least), redirect: true, client_id: 'w', recheck_interval_seconds: 3600, recheck_required: true}",
            "redirect and recheck_required"
        ),
        ("{\(least), recheck_interval_seconds: 60}", "from 300 to"),
        ("{\(least), recheck_required: true}", "recheck_required is for a provider with recheck_interval_seconds"),
        ("{\(least), client_secret_file: '/x'}", "client_secret_file is for a provider with"),
        ("{\(least), recheck_interval_seconds: 3600, client_authentication: 'none'}", "must be one of"),
        ("{}", "identity_providers[0].name is missing"), ("{}", "identity_providers[0].issuer is missing"),
        ("{}", "identity_providers[0].audiences is missing"),
        ("{\(least), isuer: 'x'}", "unknown key isuer; did you mean issuer?"),
        ("{name: 'A B', issuer: 'https://a', audiences: ['x']}", "name must be 1 to 64 lower-case letters"),
        ("{name: 'a', issuer: 'http://a', audiences: ['x']}", "issuer must be the iss"),
        ("{name: 'a', issuer: 'http://127.0.0.1', audiences: ['x']}", "issuer must be the iss"),
        ("{name: 'a', issuer: 7, audiences: ['x']}", "not 7"),
        ("{name: 'a', issuer: 'https://a', audiences: []}", "audiences must be a list"),
        ("{name: 'a', issuer: 'https://a', audiences: 'x'}", "audiences must be a list"),
        ("{\(least), jwks_uri: 'file:///etc/passwd'}", "jwks_uri must be an https URL"),
        ("{\(least), jwks_uri: 'https://u:p@a/'}", "jwks_uri must be an https URL"),
        ("{\(least), jwks_uri: 'https://a/', discovery_uri: 'https://a/'}", "leave one out"),
        ("{\(least), algorithms: ['none']}", "algorithms must be a list of some of"),
        ("{\(least), algorithms: ['HS256']}", "algorithms must be a list of some of"),
        ("{\(least), algorithms: []}", "algorithms must be a list of some of"),
        ("{\(least), nonce: 'maybe'}", "nonce must be one of"), ("{\(least), token_age_seconds: 5}", "from 30 to"),
        ("{\(least), token_age_seconds: 86400}", "from 30 to"), ("{\(least), claims: []}", "claims must be an object"),
        ("{\(least), claims: {nickname: 'x'}}", "unknown key nickname"),
        ("{\(least), claims: {email: 7}}", "claims.email must be the name of a claim"),
        ("{\(least), link_by_proven_email: 'yes'}", "must be true or false"),
        ("{\(least)}, {\(least)}", "identity_providers[1].name is 'acme', as that of another"),
        ("'acme'", "must be a list of objects"),
    ])
    func mistakes_areNamed(_ entry: String, _ expected: String) {
        let lines = Self.problems(entry)
        #expect(lines.contains { $0.hasPrefix("f: ") && $0.contains(expected) }, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("\n") })
    }

    /// The profiles in the file are comments; without their slashes they are entries.
    @Test func profilesOfTheFile_areEntries() throws {
        let text = String(
            decoding: try Data(contentsOf: Repository.root.appending(path: "config/sojourn.json5")), as: UTF8.self)
        let start = try #require(text.firstRange(of: "    identity_providers: ["))
        let end = try #require(text[start.upperBound...].firstRange(of: "\n    ],"))
        let entries = text[start.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line -> String? in
            let words = line.drop { $0 == " " }
            guard words.hasPrefix("// ") else { return nil }
            let rest = words.dropFirst(3)
            return rest.hasPrefix("{") || rest.hasPrefix("}") || rest.hasPrefix(" ") ? String(rest) : nil
        }
        let providers = try Self.providers("{identity_providers: [\(entries.joined(separator: "\n"))]}")
        #expect(providers.map(\.name) == ["b2c", "google", "apple", "facebook", "keycloak"])
    }
}
