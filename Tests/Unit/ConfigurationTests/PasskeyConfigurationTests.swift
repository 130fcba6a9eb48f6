import FoundationEssentials
import Sessions
import Testing
import WebAuthn

@testable import Configuration

/// The keys of passkeys.
@Suite struct PasskeyConfigurationTests {
    private func configuration(_ text: String) throws -> ServerConfiguration {
        var sources = ServerConfiguration.Sources()
        sources.file = ("test.json5", Array(text.utf8))
        return try ServerConfiguration(from: sources)
    }

    @Test("there are no passkeys without an RP ID") func off() throws {
        #expect(try configuration("{}").passkeyPolicy == nil)
        #expect(throws: ServerConfiguration.Problems.self) {
            try configuration(#"{passkeys: {origins: ["https://a.example"]}}"#)
        }
    }

    @Test("the RP ID alone is a website; origins and the limit are taken over") func policy() throws {
        let website = try #require(try configuration(#"{passkeys: {rp_id: "a.example"}}"#).passkeyPolicy)
        #expect(website.relyingParty.id == "a.example")
        #expect(website.relyingParty.origins == ["https://a.example"])
        #expect(website.countMax == 20)
        let app = "android:apk-key-hash:" + String(repeating: "a", count: 43)
        let policy = try configuration(
            #"{passkeys: {rp_id: "a.example", origins: ["\#(app)"]}, limits: {passkeys_per_user: 3}}"#
        ).passkeyPolicy
        #expect(policy?.relyingParty.origins == [app])
        #expect(policy?.countMax == 3)
    }

    @Test(
        "origins are those that clients write",
        arguments: [
            ("https://a.example", true), ("https://a.example:8443", true), ("https://xn--bcher-kva.example", true),
            ("http://localhost", true), ("http://localhost:8080", true), ("ABCDE12345.com.example.app", true),
            ("android:apk-key-hash:" + String(repeating: "-", count: 43), true),
            ("http://a.example", false), ("https://A.example", false), ("https://a.example/", false),
            ("https://", false),
            ("https://a.example:0", false), ("https://a.example:99999", false), ("https://a..example", false),
            ("https://a.example?x", false), ("http://localhost.evil", false), ("a.example", false), ("", false),
            ("android:apk-key-hash:short", false), ("https://bücher.example", false), ("ABCDE1234.com.example", false),
            ("https://user@a.example", false), ("https://*.example", false),
        ])
    func origins(_ text: String, _ isOrigin: Bool) { #expect(PasskeyPolicy.isOrigin(text) == isOrigin) }

    @Test("an RP ID is a domain", arguments: ["A.example", "a.example:80", "https://a.example", "a/b", ""])
    func wrongDomains(_ text: String) {
        #expect(throws: ServerConfiguration.Problems.self) {
            try configuration(#"{passkeys: {rp_id: "\#(text)"}}"#)
        }
    }
}
