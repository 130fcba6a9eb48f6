import FoundationEssentials
import Glibc
import HTTP
import HostileServer
import JSON
import Server
import Sockets
import Testing

@testable import sojourn

/// A whole server: what a receiver is told of a login on a new device, and of a token that was stolen.
@Suite("Webhooks: what a mail needs", .timeLimit(.minutes(1)))
struct WebhookPlaceTests {
    private let folder = StartingFolder()
    private let receiver = HostileServer { _ in [.say("HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n")] }

    /// The events of a kind that have come, as soon as there are so many.
    private func events(_ type: String, count: Int) async throws -> [JSONValue] {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let events = receiver.requests.compactMap { request -> JSONValue? in
                let parts = request.split(separator: "\r\n\r\n", maxSplits: 1)
                return parts.count == 2 ? JSONValue(text: Array(parts[1].utf8)) : nil
            }.filter { $0["type"]?.string == type }
            if events.count >= count || ContinuousClock.now > deadline { return events }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// A call of an app, with an address that a proxy tells.
    private func call(_ path: String, from address: String, at server: CrashServer, _ body: [String: JSONValue]) throws
        -> JSONValue
    {
        let fields: Fields = ["Content-Type": "application/json", "X-Forwarded-For": address]
        let answer = try HTTPExchange.send(
            Request(.post, path, fields: fields, body: JSONValue.object(body).text()),
            to: SocketAddress(server.publicAddress))
        return JSONValue(text: answer.body) ?? .null
    }

    /// A server with a file of places and a webhook, and with the user anna.
    private func start() async throws -> CrashServer {
        try await PlaceFiles.write(folder.file("places.mmdb"))
        folder.write(
            "c.json5",
            """
            {server: {trusted_proxies: ["127.0.0.1"]}, geo: {database: "places.mmdb"},
                webhooks: [{name: "mails", url: "\(receiver.origin)"}]}
            """)
        let server = try await CrashServer(
            folder,
            environment: [
                "SOJOURN_CONFIG": "c.json5", "SOJOURN_WEBHOOK_SECRET_MAILS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            ])
        let user = server.admin(
            .post, "/users",
            .object([
                "username": .string("anna"), "password": Self.password, "email": .string("anna@example.org"),
            ]))
        #expect(user?.status == 201)
        // A thief is found out at once.
        let settings = server.admin(.put, "/settings/sessions", .object(["rotation_interval": .integer(0)]))
        #expect(settings?.status == 200)
        return server
    }

    private static let password = JSONValue.string("correct horse battery staple")

    @Test("a message has device, place and time of a login and of a theft; a new file of places is taken at run time")
    func wholeServer() async throws {
        let server = try await start()
        func logIn(_ device: String, from address: String) throws -> String? {
            try call(
                "/v1/login", from: address, at: server,
                [
                    "username": .string("anna"), "password": Self.password,
                    "device": .object([
                        "id": .string(device), "name": .string("Anna's iPhone"), "platform": .string("ios"),
                    ]),
                ])["refresh_token"]?.string
        }
        let begin = Int64(Date().timeIntervalSince1970)
        let first = try #require(try logIn("phone-1", from: "192.0.2.9"))
        var data = try #require(try await events("session_started", count: 1).first)
        #expect(data["data"]?["new_device"] == .bool(true) && data["data"]?["remote_address"]?.string == "192.0.2.9")
        #expect(
            data["data"]?["place"]?["city"]?.string == "Munich" && data["data"]?["place"]?["country"]?.string == "DE")
        #expect(data["data"]?["device"]?["name"]?.string == "Anna's iPhone")
        #expect(data["data"]?["user"]?["email"]?.string == "anna@example.org")
        let time = try #require(data["timestamp"]?.string.flatMap { try? Date($0, strategy: .iso8601) })
        #expect((begin - 1...begin + 30).contains(Int64(time.timeIntervalSince1970)))

        // Two rotations later a thief comes with the first token, from another country.
        let second = try call("/v1/refresh", from: "192.0.2.9", at: server, ["refresh_token": .string(first)])
        let third = try call(
            "/v1/refresh", from: "192.0.2.9", at: server, ["refresh_token": second["refresh_token"] ?? .null])
        #expect(third["refresh_token"] != nil)
        let theft = try call("/v1/refresh", from: "2001:db8::7", at: server, ["refresh_token": .string(first)])
        #expect(theft["code"]?.string == "refresh_token_reused")
        data = try #require(try await events("session_ended", count: 1).first)
        #expect(data["data"]?["reason"]?.string == "refresh_token_reused")
        #expect(
            data["data"]?["place"]?["country_name"]?.string == "Japan"
                && data["data"]?["device"]?["device_id"]?.string == "phone-1")

        try await PlaceFiles.write(folder.file("next"), madeAt: 1_760_000_000, city: "Passau")
        #expect(rename(folder.file("next"), folder.file("places.mmdb")) == 0)
        let deadline = ContinuousClock.now + .seconds(25)
        var metrics = ""
        while !metrics.contains("sojourn_geo_database_build_seconds 1760000000\n"), ContinuousClock.now < deadline {
            let answer = try HTTPExchange.send(Request(.get, "/metrics"), to: SocketAddress(server.adminAddress))
            metrics = String(decoding: answer.body, as: UTF8.self)
            try await Task.sleep(for: .milliseconds(50))
        }
        _ = try #require(try logIn("phone-2", from: "192.0.2.9"))
        data = try #require(try await events("session_started", count: 2).last)
        #expect(data["data"]?["place"]?["city"]?.string == "Passau")
        await server.kill()
        receiver.stop()
    }
}
