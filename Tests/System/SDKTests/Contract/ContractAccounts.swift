import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static func pair(
        _ client: ContractClient, _ user: String, password: String? = nil
    ) async throws -> (phone: ContractAnswer, tablet: ContractAnswer) {
        try await client.server.createUser(user, password: password)
        return (try await client.open(user), try await client.open(user, device: "tablet"))
    }

    static let accounts = [
        ContractCase("the profile") { (client, user) async throws in
            let phone = try await pair(client, user).phone
            let answer = try await client.send("GET", "/v1/me", bearer: phone.accessToken)
            #expect(answer.status == 200)
            #expect(answer.text("username") == user)
            #expect(answer.text("user_id") == phone.json["user"]?.members?.text("user_id"))
        },
        ContractCase("a call without a token, and with junk") { (client, _) async throws in
            #expect(try await client.send("GET", "/v1/me").summary == "401 unauthenticated")
            #expect(try await client.send("GET", "/v1/me", bearer: "junk").summary == "401 invalid_token")
        },
        ContractCase("the list of devices") { (client, user) async throws in
            let phone = try await pair(client, user).phone
            let answer = try await client.send("GET", "/v1/me/devices", bearer: phone.accessToken)
            let devices = answer.json["items"]?.elements?.compactMap(\.members) ?? []
            #expect(Set(devices.compactMap { $0.text("device_id") }) == ["phone", "tablet"])
            #expect(devices.filter { $0["current"]?.bool == true }.compactMap { $0.text("device_id") } == ["phone"])
            #expect(devices.allSatisfy { $0.integer("last_seen_at") != nil })
        },
        ContractCase("a device ends another one") { (client, user) async throws in
            let (phone, tablet) = try await pair(client, user)
            let path = "/v1/me/devices/tablet"
            #expect(try await client.send("DELETE", path, bearer: phone.accessToken).status == 204)
            #expect(try await client.renew(tablet.refreshToken).summary == "400 revoked_by_user log in again")
            #expect(try await client.renew(phone.refreshToken).status == 200)
            #expect(try await client.send("DELETE", path, bearer: phone.accessToken).summary == "404 not_found")
        },
        ContractCase("a device ends all, itself as well") { (client, user) async throws in
            let (phone, tablet) = try await pair(client, user)
            let answer = try await client.send("DELETE", "/v1/me/devices", bearer: phone.accessToken)
            #expect(answer.integer("revoked") == 2)
            for token in [phone.refreshToken, tablet.refreshToken] {
                #expect(try await client.renew(token).summary == "400 revoked_by_user log in again")
            }
        },
        ContractCase("the user's own switch, at once") { (client, user) async throws in
            // Without a password the user could not switch logins on again.
            let (phone, tablet) = try await pair(client, user, password: "a first password")
            let answer = try await client.send(
                "PUT", "/v1/me/login-settings",
                json: ["logins_disabled": .bool(true), "effective": .string("immediate")], bearer: phone.accessToken)
            #expect(answer.bool("logins_disabled") == true)
            #expect(answer.text("effective") == "immediate")
            #expect(try await client.renew(tablet.refreshToken).summary == "400 login_disabled_by_user kept")
            let me = try await client.send("GET", "/v1/me", bearer: tablet.accessToken)
            #expect(me.summary == "401 login_disabled_by_user kept")
        },
        ContractCase("the user's own switch, when tokens expire") { (client, user) async throws in
            let (phone, tablet) = try await pair(client, user)
            func set(_ isDisabled: Bool) async throws -> ContractAnswer {
                try await client.send(
                    "PUT", "/v1/me/login-settings",
                    json: ["logins_disabled": .bool(isDisabled), "effective": .string("on_expiry")],
                    bearer: phone.accessToken)
            }
            #expect(try await set(true).text("effective") == "on_expiry")
            #expect(try await client.renew(tablet.refreshToken).summary == "400 login_disabled_by_user kept")
            #expect(try await client.send("GET", "/v1/me", bearer: tablet.accessToken).status == 200)
            let off = try await set(false)
            #expect(off.bool("logins_disabled") == false)
            #expect(off.text("effective") == nil)
            #expect(try await client.renew(tablet.refreshToken).status == 200)
        },
        ContractCase("a changed password keeps the session that changed it") { (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let (phone, tablet) = (try await client.open(user), try await client.open(user, device: "tablet"))
            let members: [String: JSONValue] = [
                "old_password": .string("a first password"), "new_password": .string("a second password"),
            ]
            let answer = try await client.send("PUT", "/v1/me/password", json: members, bearer: phone.accessToken)
            #expect(answer.status == 204)
            #expect(try await client.renew(phone.refreshToken).status == 200)
            #expect(try await client.renew(tablet.refreshToken).summary == "400 password_changed log in again")
        },
        ContractCase("a password is not changed by a wrong one") { (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let phone = try await client.open(user)
            let members: [String: JSONValue] = [
                "old_password": .string("wrong"), "new_password": .string("a second password"),
            ]
            let answer = try await client.send("PUT", "/v1/me/password", json: members, bearer: phone.accessToken)
            #expect(answer.summary == "401 invalid_credentials")
            #expect(try await client.renew(phone.refreshToken).status == 200)
        },
        ContractCase("a token without the scope `account`") { (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let phone = try await client.logIn(user, "a first password", scope: "offline_access")
            #expect(phone.json["user"]?.members?.keys.map { $0 } == ["user_id"])
            let key = PublicJWK(curve: .p256, x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32))
            let own: [AccountCall] = [.presenceOptions, .removeEncryptionKey, .setEncryptionKey(key)]
            let ofAccount: [AccountCall] = [
                .devices, .endDevice("phone"), .endAllDevices, .loginSettings,
                .setLoginsDisabled(true, nil, revokeSessions: false), .changePassword(from: "a", to: "b"),
                .name(username: "x", password: "y"), .passkeys, .passkeyOptions, .addPasskey([:], name: nil),
                .removePasskey("AQ"),
            ]
            let server = try ServerAddress(client.server.url)
            for (calls, isRefused) in [(own, false), (ofAccount, true)] {
                for call in calls {
                    var message = try call.message(to: server)
                    message.fields.append(HTTPMessageField("Authorization", "Bearer \(phone.accessToken)"))
                    let answer = ContractAnswer(try await client.server.transport.send(message, within: .seconds(60)))
                    #expect((answer.summary == "403 insufficient_scope") == isRefused, "\(call): \(answer.summary)")
                    #expect(
                        (answer.fields["WWW-Authenticate"]?.contains(#"scope="account""#) == true) == isRefused,
                        "\(call)")
                }
            }
            for (method, path) in [("GET", ""), ("POST", ""), ("POST", "/ping"), ("POST", "/x/confirm")] {
                let answer = try await client.send(
                    method, "/v1/me/logins" + path, json: method == "POST" ? [:] : nil, bearer: phone.accessToken)
                #expect(answer.summary == "403 insufficient_scope", "\(method) \(path)")
            }
            let profile = try await client.send("GET", "/v1/me", bearer: phone.accessToken)
            #expect(profile.status == 200 && profile.json.keys.map { $0 } == ["user_id"])
            #expect(try await client.send("GET", "/v1/verify", bearer: phone.accessToken).status == 200)
            #expect(try await client.send("POST", "/v1/logout", bearer: phone.accessToken).status == 204)
        },
        ContractCase("a scope that the client may not have, and one that is taken from it", .own("scope")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let refused = try await client.logIn(user, "a first password", scope: "account admin")
            #expect(refused.summary == "400 invalid_scope")
            let phone = try await client.logIn(user, "a first password")
            #expect(try await client.send("GET", "/v1/me/devices", bearer: phone.accessToken).status == 200)
            try await client.server.setScope("offline_access")
            let taken = try await client.send("GET", "/v1/me/devices", bearer: phone.accessToken)
            #expect(taken.summary == "403 insufficient_scope")
            #expect(try await client.renew(phone.refreshToken).json["user"]?.members?.keys.map { $0 } == ["user_id"])
        },
        ContractCase("a renewal answers an ID token if the scope has openid, unless it declines", .own("openid")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            try await client.server.setScope("openid offline_access account")
            let phone = try await client.logIn(user, "a first password", scope: "openid")
            #expect(phone.text("scope") == "openid" && phone.text("id_token") == nil)
            #expect(try await client.renew(phone.refreshToken).text("id_token") != nil)
            let declined = try await client.renew(phone.refreshToken, more: ["id_token": "false"])
            #expect(declined.status == 200 && declined.text("id_token") == nil)
        },
        ContractCase("a proxy asks who calls") { (client, user) async throws in
            let phone = try await pair(client, user).phone
            let answer = try await client.send("GET", "/v1/verify", bearer: phone.accessToken)
            #expect(answer.status == 200)
            #expect(answer.fields["X-Session-Id"] == phone.text("session_id"))
            #expect(answer.fields["X-Device-Id"] == "phone")
            #expect(answer.fields["X-User-Id"] == phone.json["user"]?.members?.text("user_id"))
        },
    ]
}
