import HTTP
import Testing

@testable import OAuth

@Suite struct TokenRequestTests {
    private func request(_ form: String) throws -> TokenRequest {
        TokenRequest(try FormParameters(FormDecoder.decode(Array(form.utf8))))
    }

    @Test func readsEveryParameter() throws {
        let request = try request(
            "grant_type=refresh_token&client_id=a%20b&client_secret=s&client_assertion_type=u:r&client_assertion=j&refresh_token=t&scope=r+w&username=u&password=p"
                + "&device_id=d&device_name=My+phone&other=1")
        #expect(request.grantType == "refresh_token")
        #expect(request.client.id == "a b")
        #expect(request.client.secret == "s")
        #expect(request.client.assertionType == "u:r")
        #expect(request.client.assertion == "j")
        #expect(request.refreshToken == "t")
        #expect(request.scope == "r w")
        #expect(request.username == "u")
        #expect(request.password == "p")
        #expect(request.deviceID == "d")
        #expect(request.deviceName == "My phone")
    }

    @Test func takesEmptyForOmitted() throws {
        let request = try request("grant_type=&client_id=&scope&refresh_token=t")
        #expect(request.grantType == nil)
        #expect(request.client.id == nil)
        #expect(request.scope == nil)
        #expect(request.refreshToken == "t")
    }

    @Test(arguments: ["a=1&a=2", "a=1&a=1", "a=&a=", "a&a=1", "grant_type=x&b=1&grant_type=", "%61=1&a=1"])
    func refusesAParameterThatStandsTwice(_ form: String) throws {
        let pairs = try FormDecoder.decode(Array(form.utf8))
        let name = pairs[0].name
        #expect(throws: FormParameters.Repeated(name: name)) { try FormParameters(pairs) }
    }

    @Test func namesAreComparedAsTheyAre() throws {
        #expect(try request("Grant_Type=x").grantType == nil)
        #expect(try request("grant_type =x").grantType == nil)
    }
}
