import FoundationEssentials
import Testing

@testable import OAuth

@Suite struct AuthorizationTests {
    private func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    @Test(arguments: ["Bearer", "bearer", "BEARER", "bEaReR"]) func bearerHasNoCase(_ scheme: String) throws {
        #expect(try Authorization("\(scheme) abc.DEF-_~+/9==") == .bearer("abc.DEF-_~+/9=="))
        #expect(try Authorization("\(scheme)   x") == .bearer("x"))
    }

    @Test(arguments: ["Basic", "basic", "BASIC"]) func basicHasNoCase(_ scheme: String) throws {
        let expected = Authorization.basic(BasicCredentials(userID: "Aladdin", password: "open sesame"))
        #expect(try Authorization("\(scheme) QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == expected)
    }

    @Test(arguments: [
        ("a:b", "a", "b"), (":", "", ""), ("a:", "a", ""), (":b", "", "b"), ("a:b:c", "a", "b:c"),
        ("test:123\u{A3}", "test", "123\u{A3}"), ("a%3Ab:c+d", "a%3Ab", "c+d"),
    ]) func basicIsCutAtTheFirstColon(_ text: String, _ userID: String, _ password: String) throws {
        #expect(try Authorization(basic(text)) == .basic(BasicCredentials(userID: userID, password: password)))
    }

    @Test(arguments: [
        "Bearer ", "Bearer =", "Bearer a=b", "Bearer a b", "Bearer a,b", "Bearer \"a\"", "Bearer ä", "Bearer a\t",
        "Basic ", "Basic !", "Basic YTpi=", "Basic YTp", "Basic YTpi YTpi", "Basic YTpi\n", "Basic YWI=",
        "Basic /zpi", "Basic YQA6Yg==", "Basic YTp/", "Basic YTpi,YTpi",
    ]) func refusesWhatTheSchemeDoesNotHave(_ value: String) {
        #expect(throws: Authorization.Problem.malformed) { try Authorization(value) }
    }

    @Test(arguments: [
        "", "Bearer", "Basic", "Bearerx y", "Digest a=b", " Bearer x", "Bearer\tx", "Bear\u{65}r\u{301} x",
        "\u{2}earer x",
    ])
    func refusesOtherSchemes(_ value: String) {
        #expect(throws: Authorization.Problem.unknownScheme) { try Authorization(value) }
    }

    @Test(arguments: [
        ("a:b", "a", "b"), ("back%3Aend:x", "back:end", "x"), ("a+b:c%2Bd", "a b", "c+d"), ("a:x=y=", "a", "x=y="),
        ("%C3%A4:%26", "ä", "&"), (":", "", ""),
    ]) func clientsAreFormDecoded(_ text: String, _ userID: String, _ password: String) throws {
        guard case .basic(let credentials) = try Authorization(basic(text)) else {
            Issue.record("not Basic")
            return
        }
        #expect(credentials.formDecoded == BasicCredentials(userID: userID, password: password))
    }

    @Test(arguments: ["a%:b", "a:%zz", "a:%ff", "a&b:c", "a:b&c", "a:%00"])
    func refusesClientsThatAreNotFormEncoded(_ text: String) throws {
        guard case .basic(let credentials) = try Authorization(basic(text)) else {
            Issue.record("not Basic")
            return
        }
        #expect(credentials.formDecoded == nil)
    }
}
