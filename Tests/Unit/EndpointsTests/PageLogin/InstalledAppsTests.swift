import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The documents by which phones know the apps of the host.
@Suite struct InstalledAppsTests {
    private static let apple = "/.well-known/apple-app-site-association"
    private static let android = "/.well-known/assetlinks.json"
    private static let fingerprint = Array(repeating: "0A", count: 32).joined(separator: ":")
    private static let other = Array(repeating: "FF", count: 32).joined(separator: ":")

    private static func makeClient(_ server: EndpointsFixture, _ id: String, _ more: String) async throws {
        _ = try await server.makeClient(#"{"client_id":"\#(id)","grant_types":["refresh_token"],\#(more)}"#)
    }

    private static func text(_ answer: Answer) -> String { String(decoding: answer.response.body, as: UTF8.self) }

    @Test func withoutApps_theListsAreEmpty() async throws {
        try await EndpointsFixture.with { server in
            let apple = await server.call(.get, Self.apple)
            #expect(Self.text(apple) == #"{"applinks":{"details":[]},"webcredentials":{"apps":[]}}"#)
            let android = await server.call(.get, Self.android)
            #expect(Self.text(android) == "[]")
            for answer in [apple, android] {
                #expect(answer.status == 200 && answer.field("Content-Type") == "application/json")
                #expect(answer.field("Cache-Control") == "public, max-age=300" && answer.field("ETag") != nil)
            }
        }
    }

    @Test func appsOfAllClients_withThePathsOnThisHost() async throws {
        try await EndpointsFixture.with { server in
            try await Self.makeClient(
                server, "a",
                #"""
                "apple_app_ids":["ABCDE12345.com.example.a","ABCDE12345.com.example.b"],"redirect_uris":[
                "https://login.example/app/a?x=1","https://login.example/app/a","https://LOGIN.example","https://login.example/*",
                "https://other.example/no","https://login.example:8443/no","https://login.example.evil/no",
                "com.example.app:/no","http://127.0.0.1/no"],
                "android_apps":["com.example.b/\#(Self.other)","com.example.b/\#(Self.fingerprint)"]
                """#)
            try await Self.makeClient(
                server, "b",
                #"""
                "apple_app_ids":["ABCDE12345.com.example.b"],"redirect_uris":["https://other.example/cb"],
                "android_apps":["com.example.a/\#(Self.fingerprint)","com.example.b/\#(Self.fingerprint)"]
                """#)
            try await Self.makeClient(server, "web", #""redirect_uris":["https://login.example/web"]"#)
            let apps = #""ABCDE12345.com.example.a","ABCDE12345.com.example.b""#
            #expect(
                Self.text(await server.call(.get, Self.apple)) == """
                    {"applinks":{"details":[{"appIDs":[\(apps)],"components":[{"/":"/app/a"},{"/":"/"}]}]},\
                    "webcredentials":{"apps":[\(apps)]}}
                    """)
            let relation =
                #""relation":["delegate_permission/common.handle_all_urls","delegate_permission/common.get_login_creds"]"#
            let target = #""target":{"namespace":"android_app","package_name":"com.example"#
            #expect(
                Self.text(await server.call(.get, Self.android)) == """
                    [{\(relation),\(target).a","sha256_cert_fingerprints":["\(Self.fingerprint)"]}},\
                    {\(relation),\(target).b","sha256_cert_fingerprints":["\(Self.fingerprint)","\(Self.other)"]}}]
                    """)
        }
    }

    @Test func aChangeOfTheClient_isServedWithAnotherTag() async throws {
        try await EndpointsFixture.with { server in
            let before = await server.call(.get, Self.apple).field("ETag")
            let change = #"{"apple_app_ids":["ABCDE12345.com.example.a"]}"#
            let changed = await server.admin(.patch, "/admin/v1/clients/mobile", change)
            #expect(changed.status == 200 && changed.strings("apple_app_ids") == ["ABCDE12345.com.example.a"])
            #expect(changed.strings("android_apps") == [])
            let after = await server.call(.get, Self.apple)
            #expect(after.field("ETag") != before && Self.text(after).contains("ABCDE12345.com.example.a"))
        }
    }

    @Test(arguments: [
        #""apple_app_ids":["com.example.a"]"#, #""apple_app_ids":["abcde12345.com.example.a"]"#,
        #""apple_app_ids":["ABCDE12345."]"#, #""apple_app_ids":["ABCDE12345.com..a"]"#,
        #""apple_app_ids":["ABCDE1234.com.a"]"#, #""apple_app_ids":["ABCDE12345.com.*"]"#,
        #""apple_app_ids":["ABCDE12345.a","ABCDE12345.a"]"#, #""apple_app_ids":null"#, #""android_apps":null"#,
        #""android_apps":["com.example.a"]"#, #""android_apps":["com.example.a/0A:0B"]"#,
        #""android_apps":["example/\#(fingerprint)"]"#, #""android_apps":["com.1a/\#(fingerprint)"]"#,
        #""android_apps":["com.example.a/\#(fingerprint.lowercased())"]"#,
        #""android_apps":["com.example.a/\#(fingerprint)/"]"#,
        #""android_apps":["com.example.a/\#(fingerprint)","com.example.a/\#(fingerprint)"]"#,
        #""android_apps":["com.example.a b/\#(fingerprint)"]"#,
    ])
    func wrongApps_areRefused(_ members: String) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.patch, "/admin/v1/clients/mobile", "{\(members)}")
            #expect(answer.status == 400, "\(members)")
            let name = members.contains("apple") ? "apple_app_ids" : "android_apps"
            #expect(Self.text(answer).contains(name))
        }
    }

    @Test func aServerWithoutTLS_hasNoLinks() {
        #expect(RedirectURI.path(of: "https://login.example/cb", onHostOf: "http://login.example") == nil)
        #expect(RedirectURI.path(of: "https://login.example/cb", onHostOf: "https://login.example/tenant") == "/cb")
        #expect(RedirectURI.path(of: "http://127.0.0.1/cb", onHostOf: "http://127.0.0.1") == nil)
    }
}
