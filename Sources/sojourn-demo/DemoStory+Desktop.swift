import SojournClient

/// The chapter of the desktop that the phone lets in.
extension DemoStory {
    private static let grant = "urn:ietf:params:oauth:grant-type:device_code"

    /// A client with the grant of devices.
    private struct Desktop: Encodable {
        var client_id = "desktop"
        var client_name = "Desktop"
        var grant_types = [DemoStory.grant, "refresh_token"]
    }

    mutating func letInADesktop() async throws {
        begin("A desktop comes and goes with the phone")
        try admin("POST", "/clients", Desktop(), 201)
        let opened = try world.form("/oauth/device_authorization", [("client_id", "desktop")])
        Self.tell("POST /oauth/device_authorization", "desktop", "\(opened.status)")
        guard let picture = opened["qr"], let code = opened["device_code"], let id = opened["login_id"] else {
            throw Surprise(description: "the desktop gets no picture")
        }
        say("The desktop shows a picture, for ten seconds: \(picture)")
        let login = try await phone.sojourn.startSession(scanned: picture)
        for await status in login.statuses where status.input == .confirmation { break }
        let number = try world.app("GET", "/v1/logins/\(id)", bearer: code).number("number")
        say("The phone has scanned it. Now the desktop shows \(number ?? 0), and Anna types that and her password.")
        try await login.confirm(number: number)
        try await login.enterSecondFactor(password: password)
        let tokens = try world.form(
            "/oauth/token",
            [("client_id", "desktop"), ("grant_type", Self.grant), ("device_code", code), ("device_id", "desktop")])
        Self.tell("POST /oauth/token", "desktop", "\(tokens.status)")
        try expect(tokens["session_id"] == id, "the desktop is signed in, with the login's own id as its session")
        world.pass(.seconds(3700))
        let renewed = try refreshDesktop(tokens["refresh_token"])
        try expect(renewed.status == 200, "it renews like every other device")
        _ = await phone.sojourn.signOut()
        var answer = renewed
        // The SDK tells the server in the background, as soon as it can.
        for _ in 0..<500 where answer.status == 200 {
            try await Task.sleep(for: .milliseconds(10))
            answer = try refreshDesktop(renewed["refresh_token"])
        }
        Self.tell("POST /oauth/token", "desktop", "\(answer.status) \(answer["reason"] ?? "")")
        try expect(answer["reason"] == "parent_ended", "Anna logs out on the phone, and the desktop is out as well")
        try await signIn(phone)
    }

    private func refreshDesktop(_ token: String?) throws -> DemoWorld.Answer {
        try world.form(
            "/oauth/token",
            [("client_id", "desktop"), ("grant_type", "refresh_token"), ("refresh_token", token ?? "")])
    }
}
