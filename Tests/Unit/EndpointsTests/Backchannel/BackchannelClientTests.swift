import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What a client registers for logins that it requests (OpenID Connect CIBA section 4), and what a request has to bring then.
struct BackchannelClientTests {
    private typealias Login = BackchannelLogin

    @Test("The members are checked together, and come back")
    func members() async throws {
        try await Login.with { server, basic, _ in
            let path = "/admin/v1/clients/shop"
            let fresh = await server.admin(.get, path)
            #expect(fresh.string("backchannel_token_delivery_mode") == "poll")
            #expect(fresh.bool("backchannel_user_code_parameter") == false)
            for (body, member) in [
                (#"{"backchannel_token_delivery_mode":"push"}"#, "backchannel_token_delivery_mode"),
                (#"{"backchannel_token_delivery_mode":"ping"}"#, "backchannel_client_notification_endpoint"),
                (#"{"backchannel_user_code_parameter":true}"#, "backchannel_user_code_parameter"),
                (
                    #"{"backchannel_client_notification_endpoint":"http://shop.example/ping"}"#,
                    "backchannel_client_notification_endpoint"
                ),
                (
                    #"{"backchannel_client_notification_endpoint":"https://u:p@shop.example/ping"}"#,
                    "backchannel_client_notification_endpoint"
                ),
                (
                    #"{"backchannel_client_notification_endpoint":"https://shop.example/#x"}"#,
                    "backchannel_client_notification_endpoint"
                ),
            ] {
                let answer = await server.admin(.patch, path, body)
                #expect(answer.status == 400 && answer.string("member") == member, "\(body) \(answer.text)")
            }
            let uri = "https://shop.example/ping"
            let given = await server.admin(
                .patch, path,
                #"{"backchannel_token_delivery_mode":"ping","backchannel_client_notification_endpoint":"\#(uri)","backchannel_user_code_parameter":false}"#
            )
            #expect(given.string("backchannel_token_delivery_mode") == "ping", "\(given.text)")
            #expect(await server.admin(.get, path).string("backchannel_client_notification_endpoint") == uri)
            let without = await server.admin(.patch, path, #"{"backchannel_client_notification_endpoint":null}"#)
            #expect(without.status == 400)
        }
    }

    @Test("A client with ping has to send a bearer token, and another one's is ignored")
    func token() async throws {
        let more =
            #","backchannel_token_delivery_mode":"ping","backchannel_client_notification_endpoint":"https://shop.example/p""#
        try await Login.with(more) { server, basic, phone in
            for token in [
                nil, "", "a%20b", "a%0Ab", "%C3%BC", "===", "a=b", String(repeating: "x", count: 1025),
            ] as [String?] {
                let form = "scope=openid&login_hint=anna" + (token.map { "&client_notification_token=\($0)" } ?? "")
                let answer = await Login.request(server, basic, form)
                #expect(answer.status == 400 && answer.string("error") == "invalid_request", "\(form) \(answer.text)")
            }
            for token in [String(repeating: "x", count: 1024), "a-._~%2B%2F=="] {
                let login = try await Login(
                    server, basic, "scope=openid&login_hint=anna&client_notification_token=\(token)")
                try await login.approve(phone)
                #expect(await login.collect("&device_id=\(token.count)").status == 200)
            }
            let other = try await Login.makeClient(server, "other")
            let login = try await Login(
                server, other, "scope=openid&login_hint=anna&client_notification_token=%C3%BC")
            #expect(login.opened.status == 200)
        }
    }
}
