import HTTP
import Testing

@Suite struct RequestTests {
    @Test(
        arguments: [
            ("/", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("//", ["", ""]), ("/a/b%2Fc/d", ["a", "b/c", "d"]),
            ("/%61%c3%A9+", ["aé+"]), ("/..", [".."]), ("/%0A", ["\n"]),
        ] as [(String, [String])])
    func decodesSegments(_ path: String, _ segments: [String]) {
        #expect(Request(.get, path).pathSegments == segments)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/a%00", "/%ff", "/%c3", "/%c0%af", "/%ed%a0%80", "*", "", "a/b"])
    func refusesSegmentsThatAreNotWellFormed(_ path: String) {
        #expect(Request(method: .get, target: RequestTarget(path: path)).pathSegments == nil)
    }

    @Test func decodesTheQuery() throws {
        let items = try Request(.get, "/a?b=c+d&e=%26&b=").queryItems()
        #expect(items.map(\.name) == ["b", "e", "b"])
        #expect(items.map(\.value) == ["c d", "&", ""])
        #expect(try Request(.get, "/a").queryItems() == [])
        #expect(throws: FormError.tooManyPairs) { try Request(.get, "/?a&b").queryItems(maximumCount: 1) }
    }

    @Test(
        arguments: [
            (.http11, [], true), (.http10, [], false),
            (.http11, ["close"], false), (.http11, ["Close"], false), (.http11, ["x, CLOSE"], false),
            (.http11, ["x", "close"], false), (.http11, ["closed"], true), (.http11, ["keep-alive"], true),
            (.http10, ["Keep-Alive"], true), (.http10, ["x ,keep-alive"], true),
            (.http10, ["keep-alive, close"], false),
            (.http10, ["keep alive"], false),
        ] as [(Version, [String], Bool)])
    func keepsTheConnectionAlive(_ version: Version, _ values: [String], _ isKept: Bool) {
        var request = Request(method: .get, target: RequestTarget(path: "/"), version: version)
        for value in values { request.fields.append("Connection", value) }
        #expect(request.wantsKeepAlive == isKept)
        let persistence = ResponseSerializer.Persistence(answering: request)
        #expect(persistence == (isKept ? (version == .http10 ? .explicitKeepAlive : .keepAlive) : .close))
    }

    @Test func knowsItsAuthority() {
        #expect(onlyRequest("GET http://b:1/ HTTP/1.1\r\nHost: a\r\n\r\n")?.authority == "b:1")
        #expect(onlyRequest("GET / HTTP/1.1\r\nHost: a\r\n\r\n")?.authority == "a")
        #expect(onlyRequest("GET / HTTP/1.0\r\n\r\n")?.authority == nil)
    }

    @Test func knowsTheMethods() {
        #expect(Method.patch.isKnown)
        #expect(!Method(rawValue: "get").isKnown)
        for name in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"] {
            #expect(Method(rawValue: name).isKnown)
            #expect(Method(rawValue: name).rawValue == name)
        }
        for name in ["", "GEX", "XET", "POSTS", "PATCH ", "DELETF", "OPTIONZ", "CONNECX", "BREW"] {
            #expect(!Method(rawValue: name).isKnown)
            #expect(Method(rawValue: name).rawValue == name)
        }
    }
}
