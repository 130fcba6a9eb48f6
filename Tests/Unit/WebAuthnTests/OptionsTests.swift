import JSON
import Testing
import WebAuthn

/// The options as `parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` read them: every member has the name and the
/// type of the dictionaries in section 5.1.
@Suite struct OptionsTests {
    private let site = RelyingParty(id: "example.org", name: "Example", origins: [])

    @Test("options of a registration") func creation() {
        let options = site.creationOptions(
            challenge: [1, 2, 3], userHandle: [4], userName: "anna", displayName: "Anna",
            excluding: [([5], ["internal"])])
        #expect(
            options.compactText == #"""
                {"attestation":"none","authenticatorSelection":{"requireResidentKey":true,"residentKey":"required",\#
                "userVerification":"required"},"challenge":"AQID","excludeCredentials":[{"id":"BQ","transports":\#
                ["internal"],"type":"public-key"}],"extensions":{"credProps":true},"pubKeyCredParams":[{"alg":-7,\#
                "type":"public-key"},{"alg":-8,"type":"public-key"},{"alg":-257,"type":"public-key"}],"rp":\#
                {"id":"example.org","name":"Example"},"timeout":300000,"user":{"displayName":"Anna","id":"BA",\#
                "name":"anna"}}
                """#)
    }

    @Test("options of an assertion") func request() {
        #expect(
            site.requestOptions(challenge: [1, 2, 3], allowing: [([5], [])]).compactText == #"""
                {"allowCredentials":[{"id":"BQ","transports":[],"type":"public-key"}],"challenge":"AQID",\#
                "rpId":"example.org","timeout":300000,"userVerification":"required"}
                """#)
        #expect(site.requestOptions(challenge: [1])["allowCredentials"] == .array([]))
    }
}
