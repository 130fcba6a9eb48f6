import Glibc
import HTTP
import HTTPClient
import HostileServer
import Testing

@Suite struct HTTPClientTests {
    private func ask(
        _ steps: [HostileServer.Step], _ options: HTTPClient.Options = HTTPClient.Options(),
        _ change: (inout OutboundRequest) -> Void = { _ in }
    ) async throws -> Result<OutboundResponse, OutboundError> {
        let server = HostileServer { _ in steps }
        defer { server.stop() }
        var request = OutboundRequest(.get, try #require(OutboundURL(server.origin + "/a?b", plainLoopback: true)))
        change(&request)
        return await HTTPClient(options).outcome(request)
    }

    @Test func sends_MethodFieldsAndContent_AndReadsTheAnswer() async throws {
        let server = HostileServer { _ in
            [.say("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-A: b\r\nX-A: c\r\n\r\nok")]
        }
        defer { server.stop() }
        let url = try #require(OutboundURL(server.origin + "/in?x=1", plainLoopback: true))
        let answer = try await HTTPClient().send(
            OutboundRequest(
                .post, url, fields: ["Content-Type": "application/json", "X-Empty": ""], body: Array("{}\0".utf8)))
        #expect(answer.status == 201)
        #expect(answer.fields.values("x-a") == ["b", "c"])
        #expect(answer.body == Array("ok".utf8))
        #expect(
            server.requests == [
                """
                POST /in?x=1 HTTP/1.1\r
                Host: 127.0.0.1:\(server.port)\r
                User-Agent: sojourn\r
                Accept: */*\r
                Content-Type: application/json\r
                X-Empty:\r
                Content-Length: 3\r
                \r
                {}\0
                """
            ])
    }

    @Test(
        arguments: [
            ([.say("HTTP/1.1 200 OK\r\nX: y"), .hang], .timedOut),
            ([.hang], .timedOut),
            ([.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hang], .timedOut),
            ([.say("HTTP/1.1 200 OK\r\n\r\n"), .endless("aaaaaaaaaaaaaaaa")], .tooLarge),
            (
                [.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .endless("8\r\naaaaaaaa\r\n")],
                .tooLarge
            ),
            ([.say("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), .hang], .tooLarge),
            ([.say("HTTP/1.1 200 OK\r\n"), .endless("X-A: bbbbbbbbbbbbbbbbbbbbbbbbb\r\n")], .tooLarge),
            ([.endless("HTTP/1.1 100 Continue\r\n\r\n")], .tooLarge),
            ([.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"), .endless("X-A: b\r\n")], .tooLarge),
            ([.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")], .malformed),
            ([.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")], .malformed),
            ([.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")], .malformed),
            ([.say("HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 0\r\n\r\n")], .malformed),
            ([.say("HTTP/1.1 200 OK\r\nX: y\r\n z\r\nContent-Length: 0\r\n\r\n")], .malformed),
            ([.say("<html>hello</html>")], .malformed),
            ([.say("220 mail.example ESMTP\r\n")], .malformed),
            ([.bytes([0x15, 3, 1, 0, 2, 2, 80])], .malformed),
            ([], .malformed),
        ] as [([HostileServer.Step], OutboundError)])
    func refuses_WhatIsNoAnswer(_ steps: [HostileServer.Step], _ error: OutboundError) async throws {
        let options = HTTPClient.Options(deadline: .milliseconds(error == .timedOut ? 300 : 10_000))
        #expect(try await ask(steps, options).failure == error)
    }

    @Test func contentMax_IsExact() async throws {
        let steps: [HostileServer.Step] = [.say("HTTP/1.1 200 OK\r\n\r\n12345")]
        #expect(try await ask(steps) { $0.contentMax = 5 }.get().body.count == 5)
        #expect(try await ask(steps) { $0.contentMax = 4 }.failure == .tooLarge)
    }

    @Test func interimAnswersAndTrailers_AreNotTheHead() async throws {
        let answer = try await ask([
            .say("HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\nHTTP/1.1 200 OK\r\nX-B: b\r\n"),
            .say("Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-C: trailer\r\n\r\n"),
        ]).get()
        #expect(answer.fields.first("x-a") == nil)
        #expect(answer.fields.first("x-b") == "b")
        #expect(answer.fields.first("x-c") == nil)
        #expect(answer.body == [UInt8(ascii: "a")])
    }

    @Test func redirects_AreAnswers_AndCookiesAreForgotten() async throws {
        let server = HostileServer { _ in
            [.say("HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")]
        }
        defer { server.stop() }
        let client = HTTPClient(HTTPClient.Options(width: 1))
        let request = OutboundRequest(.get, try #require(OutboundURL(server.origin, plainLoopback: true)))
        for _ in 0..<2 { #expect(try await client.send(request).status == 302) }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.hasPrefix("GET / ") && !$0.contains("ookie") })
    }

    @Test func compressedContent_IsNeitherAskedForNorUnpacked() async throws {
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 4, 0, 0x43, 0xBE, 0xB7, 0xE8, 1, 0, 0, 0]
        let answer = try await ask([.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), .bytes(gzip)]).get()
        #expect(answer.body == gzip)
    }

    @Test func noListener_IsUnreachable() async throws {
        // Below 1024, where no test listens.
        let url = try #require(OutboundURL("http://127.0.0.1:1/", plainLoopback: true))
        #expect(await HTTPClient().outcome(OutboundRequest(.get, url)).failure == .unreachable)
    }

    @Test func environment_NamesNoProxy() async throws {
        let proxy = HostileServer { _ in [.say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { proxy.stop() }
        let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        for variable in variables { setenv(variable, proxy.origin, 1) }
        defer { for variable in variables { unsetenv(variable) } }
        // A proxy would connect in the place of a client that looks at addresses.
        let careful = HTTPClient.Options(destinations: .publicAddresses(and: []))
        #expect(try await ask([.say("HTTP/1.1 204 No Content\r\n\r\n")], careful).failure == .forbidden)
        let url = try #require(OutboundURL("https://169.254.169.254/"))
        #expect(await HTTPClient(careful).outcome(OutboundRequest(.get, url)).failure == .forbidden)
        #expect(proxy.connections == 0)
        #expect(try await ask([.say("HTTP/1.1 204 No Content\r\n\r\n")]).get().status == 204)
    }
}

extension HTTPClient {
    func outcome(_ request: OutboundRequest) async -> Result<OutboundResponse, OutboundError> {
        do throws(OutboundError) { return .success(try await send(request)) } catch { return .failure(error) }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
