import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static let password = "correct horse battery"

    /// A phone on which the user is signed in. Its PINs are stretched a little only.
    private static func phone(_ client: ContractClient, _ user: String) async throws -> Sojourn {
        try await client.server.createUser(user, password: password)
        let phone = Sojourn(
            SojournConfiguration(server: client.server.url), store: MemoryStore(), keys: SoftwareKeys.temporary(),
            transport: client.server.transport, clock: (client.server as? FakeServer)?.clock ?? SystemClock(),
            pins: PINMaker(iterations: 10))
        try await phone.signIn(username: user, password: password)
        return phone
    }

    /// A login that waits for its second factor.
    private static func waiting(_ client: ContractClient, _ phone: Sojourn) async throws -> LoginSession {
        let login = try await client.server.requestLogin(TestLoginRequest())
        let session = try await phone.startSession(scanned: login.picture)
        for await event in session.events { if case .confirmLogin = event { break } }
        try await session.confirm(number: try await client.server.number(of: login))
        #expect(session.status.input == .secondFactor)
        return session
    }

    /// The word by which `call` is refused; nil: it is not.
    private static func refusal(_ call: () async throws(SojournError) -> Void) async -> String? {
        do throws(SojournError) { try await call() } catch {
            if case .refused(let refusal) = error { return refusal.code }
            return "\(error)"
        }
        return nil
    }

    private static func refusal(of pin: String, _ session: LoginSession) async -> String? {
        await refusal { () async throws(SojournError) in try await session.enterSecondFactor(pin: pin) }
    }

    static let pins = [
        ContractCase("a PIN is set by the password, approves a login, and is changed by itself", .own("device logins"))
        {
            (client, user) async throws in
            let phone = try await phone(client, user)
            #expect(try await phone.pinStatus() == nil)
            let first = try await waiting(client, phone)
            #expect(await refusal(of: "1234", first) == "pin_not_set", "the device has no key")
            #expect(
                await refusal { () async throws(SojournError) in try await phone.setPIN("123", password: password) }
                    == "invalid_pin")
            #expect(
                await refusal { () async throws(SojournError) in try await phone.setPIN("1234", password: "no") }
                    == "invalid_credentials")
            #expect(
                await refusal { () async throws(SojournError) in try await phone.setPIN("1234") }?.hasPrefix(
                    "presenceRequired") == true)
            #expect(await refusal(of: "1234", first) == "pin_not_set", "the server knows none")
            let set = try await phone.setPIN("1234", password: password)
            #expect(set.attemptsLeft == 3 && !set.isLocked)
            try await first.enterSecondFactor(pin: "1234")
            #expect(first.status == LoginStatus(.active))

            #expect(
                await refusal { () async throws(SojournError) in try await phone.changePIN(from: "0000", to: "24680") }
                    == "wrong_pin")
            #expect(try await phone.pinStatus()?.attemptsLeft == 2)
            let changed = try await phone.changePIN(from: "1234", to: "24680")
            #expect(changed.attemptsLeft == 3)
            let second = try await waiting(client, phone)
            #expect(await refusal(of: "1234", second) == "wrong_pin")
            // The digits of another script are the same PIN.
            try await second.enterSecondFactor(pin: "٢٤٦٨٠")
            #expect(second.status == LoginStatus(.active))
            #expect(try await phone.pinStatus()?.attemptsLeft == 3)
            try await phone.removePIN()
            #expect(try await phone.pinStatus() == nil)
            #expect(await refusal(of: "24680", try await waiting(client, phone)) == "pin_not_set")
        },
        ContractCase("three wrong PINs at two logins lock it, and a password opens it again", .own("device logins")) {
            (client, user) async throws in
            let phone = try await phone(client, user)
            try await phone.setPIN("1234", password: password)
            let first = try await waiting(client, phone)
            for _ in 0..<2 { #expect(await refusal(of: "0000", first) == "wrong_pin") }
            try await first.stopSession()
            let second = try await waiting(client, phone)
            for pin in ["0000", "1234"] { #expect(await refusal(of: pin, second) == "pin_locked") }
            #expect(try await phone.pinStatus()?.isLocked == true)
            #expect(second.status.input == .secondFactor)
            try await second.enterSecondFactor(password: password)
            #expect(second.status == LoginStatus(.active))
            let third = try await waiting(client, phone)
            try await third.enterSecondFactor(pin: "1234")
            #expect(third.status == LoginStatus(.active))
        },
        ContractCase("a PIN is not set by a token alone, and not by what is no MAC") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let session = try await client.logIn(user, password)
            let mac = JSONValue.string(Base64URL.encode([UInt8](repeating: 1, count: 32)))
            let set = { (members: [String: JSONValue]) async throws -> String in
                try await client.send("PUT", "/v1/me/pin", json: members, bearer: session.accessToken).summary
            }
            #expect(try await set(["pin": mac]) == "400 invalid_request")
            #expect(try await set(["pin": .string("1234"), "password": .string(password)]) == "400 invalid_request")
            #expect(try await set(["pin": mac, "old_pin": mac]) == "409 pin_not_set")
            #expect(
                try await set(["pin": mac, "old_pin": mac, "password": .string(password)]) == "400 invalid_request")
            #expect(try await set(["pin": mac, "password": .string("no")]).hasPrefix("401 invalid_credentials"))
            #expect(
                try await set(["pin": mac, "user_assertion": .string("x")])
                    .hasPrefix("401 insufficient_user_authentication"))
            #expect(
                try await client.send("GET", "/v1/me/pin", bearer: session.accessToken).summary == "404 not_found")
            #expect(try await set(["pin": mac, "password": .string(password)]) == "200")
            let shown = try await client.send("GET", "/v1/me/pin", bearer: session.accessToken)
            #expect(Set(shown.json.keys) == ["created_at", "changed_at", "attempts_left", "locked"])
            let next = JSONValue.string(Base64URL.encode([UInt8](repeating: 2, count: 32)))
            for _ in 0..<2 { #expect(try await set(["pin": next, "old_pin": mac]) == "200", "the change, sent again") }
            #expect(try await set(["pin": mac, "old_pin": mac]).hasPrefix("403 wrong_pin"))
            let again = try await client.logIn(user, password)
            #expect(
                try await client.send("GET", "/v1/me/pin", bearer: again.accessToken).summary == "404 not_found",
                "a new login, a new PIN")
        },
    ]
}
