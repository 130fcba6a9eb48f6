import Cryptography
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// Logins on the page move with the sessions that they bind to a browser.
@Suite("Export and import: logins on the page", .timeLimit(.minutes(5)))
struct TransferLoginTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    /// A login on the page, with the session of the browser and that of the app.
    private func logIn(
        _ stage: TransferFixture, _ user: User, device: String
    ) async throws -> (browser: BrowserHandle, app: Identifier<Session>, code: String) {
        var request = AuthorizationRequest(
            id: "0123456789abcdef0123456789abcdef", clientID: "shop", redirectURI: "https://shop.example/cb",
            codeChallenge: Self.challenge)
        request.scope = "openid"
        request.contexts = [.password]
        let browser = PageLoginService.Browser(userAgent: "Test", isKept: true)
        let login = stage.services.pageLogin
        let approval = try await login.approve(
            CarriedRequest(request, at: stage.context.clock.now), as: .password(of: user), in: browser, from: .system)
        let handle = try #require(approval.handle)
        let grant = try await login.exchange(exchange(approval.code, device), from: .system)
        return (handle, grant.tokens.session.id, approval.code)
    }

    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private func exchange(_ code: String, _ device: String) -> CodeExchangeRequest {
        CodeExchangeRequest(
            code: code, redirectURI: "https://shop.example/cb", verifier: Self.verifier,
            login: SessionRequest(clientID: "shop", device: Device(id: device)))
    }

    @Test("the PIN of a phone moves with its session, and wrong ones stay counted")
    func pins() async throws {
        try await transfer.withRoute { first, postgres, last in
            let user = try await first.createUser("anna")
            let grant = try await first.services.login.mintSession(
                SessionRequest(clientID: Client.mobileID, device: Device(id: "phone")), for: .id(user.id), from: .system
            )
            let (id, now) = (grant.session.id, first.context.clock.now)
            let pin = PIN(
                sessionID: id, userID: user.id, macHash: [UInt8](repeating: 7, count: PIN.MAC.byteCount),
                replacing: [UInt8](repeating: 8, count: PIN.MAC.byteCount), wrongCount: 2, createdAt: now,
                changedAt: now)
            _ = try await first.store.updatePIN(of: id) { change in change.pin = pin }
            try await transfer.move(from: first, to: postgres)
            try await transfer.move(from: postgres, to: last)
            for stage in [postgres, last] { #expect(try await stage.store.pin(of: id) == pin) }
        }
    }

    @Test("a browser's session and what it let in end together after the move, and a used code stays used")
    func companions() async throws {
        try await transfer.withRoute { first, postgres, last in
            let user = try await first.createUser("anna")
            _ = try await first.administration.createClient(id: "shop", by: .system) { client in
                client.grantTypes = [.authorizationCode, .refreshToken]
                client.scope = Scope("openid read") ?? .empty
                client.page.redirectURIs = ["https://shop.example/cb"]
                client.page.browserSession = .client
                return nil
            }
            let (one, two) = (try await logIn(first, user, device: "a"), try await logIn(first, user, device: "b"))
            let before = try await first.store.logins(after: nil, limit: 10)
            #expect(before.count == 2 && before.allSatisfy { $0.browserSession != nil && $0.codeUsedAt != nil })
            try await transfer.move(from: first, to: postgres)
            try await transfer.move(from: postgres, to: last)
            for stage in [postgres, last] {
                #expect(try await stage.store.logins(after: nil, limit: 10) == before)
                #expect(try await stage.services.pageLogin.browserSession(one.browser) != nil)
                // What moves once more is there already.
                let (again, refused) = try await stage.load(transfer.folder)
                #expect(refused.isEmpty && again.summary.contains("2 logins"))
            }
            func ending(_ id: Identifier<Session>, _ stage: TransferFixture) async throws -> EndReason? {
                try await stage.store.session(id)?.session.ending?.reason
            }
            // The app's logout ends the browser's session in which it began, and the other way round.
            for stage in [postgres, last] {
                #expect(try await stage.services.logout.end(one.app, .loggedOut, from: .system))
                #expect(try await ending(one.browser.id, stage) == .loggedOut)
                #expect(try await ending(two.app, stage) == nil)
                #expect(try await stage.services.logout.end(two.browser.id, .revokedByUser, from: .system))
                #expect(try await ending(two.app, stage) == .revokedByUser)
            }
            // The ends are not undone by the old file, and the code is not good a second time.
            _ = try await last.load(transfer.folder)
            #expect(try await ending(one.app, last) == .loggedOut)
            await #expect(throws: ServiceError.invalidGrant) {
                _ = try await last.services.pageLogin.exchange(exchange(one.code, "a"), from: .system)
            }
        }
    }

    /// A session that the phone of that user lets in on a new device. Returns the session of the device.
    private func letIn(
        _ stage: TransferFixture, _ phone: TokenGrant, bond: PhoneLogin.Bond, device: String
    ) async throws -> Identifier<Session> {
        let logins = stage.services.phoneLogins
        let session = try await stage.services.accessTokens.authenticate(phone.accessToken, from: .system)
        var opening = PhoneLoginService.Opening(.device, clientID: Client.mobileID)
        opening.bond = bond
        let opened = try await logins.open(opening, from: .system)
        let claimed = try await logins.claim(
            .init(code: logins.link(of: opened.login, .picture), source: .camera, wishes: .init()), by: session,
            key: nil, from: .system)
        _ = try await logins.perform(
            .confirm(number: claimed.number), on: claimed.id, by: session, key: nil, from: .system)
        _ = try await logins.perform(
            .proveFactor(PhoneFactor(isValid: true)), on: claimed.id, by: session, key: nil, from: .system)
        let grant = try await logins.collect(
            opened.secret ?? "", SessionRequest(clientID: Client.mobileID, device: Device(id: device)), from: .system)
        return grant.session.id
    }

    @Test("a session that a phone has let in ends with the phone after the move, and its history moves as well")
    func bonds() async throws {
        try await transfer.withRoute { first, postgres, last in
            let user = try await first.createUser("anna")
            let phone = try await first.services.login.mintSession(
                SessionRequest(clientID: Client.mobileID, device: Device(id: "phone")), for: .id(user.id), from: .system
            )
            _ = try await first.administration.changeClient(Client.mobileID, by: .system) { client in
                client.page.minimumBond = .none
                client.grantTypes.append(.deviceCode)
                return nil
            }
            let bound = try await letIn(first, phone, bond: .ping(.seconds(600)), device: "tv-1")
            let free = try await letIn(first, phone, bond: .none, device: "tv-2")
            // A login that waits for a phone does not move.
            _ = try await first.services.phoneLogins.open(
                .init(.device, clientID: Client.mobileID), from: .system)
            try await transfer.move(from: first, to: postgres)
            try await transfer.move(from: postgres, to: last)
            for stage in [postgres, last] {
                let logins = try await stage.store.phoneLogins(ofUser: nil, in: nil, after: nil, limit: 10).items
                #expect(logins.count == 2 && Set(logins.map(\.id)) == [bound, free])
                #expect(try await stage.store.phoneLogin(.id(bound))?.bond == .ping(.seconds(600)))
                #expect(try await stage.store.children(of: phone.session.id) == [bound])
                #expect(try await stage.store.phoneLogin(.id(free))?.state.outcome == .completed)
                // What moves once more is there already.
                let (again, refused) = try await stage.load(transfer.folder)
                #expect(refused.isEmpty && again.summary.contains("2 logins with a phone"))
            }
            for stage in [postgres, last] {
                #expect(try await stage.services.logout.end(phone.session.id, .loggedOut, from: .system))
                #expect(try await stage.store.session(bound)?.session.ending?.reason == .parentEnded)
                #expect(try await stage.store.session(free)?.session.ending == nil)
                #expect(try await stage.store.phoneLogin(.id(bound))?.state.outcome == .signedOut)
            }
            // The end is not undone by the old file.
            _ = try await last.load(transfer.folder)
            #expect(try await last.store.phoneLogin(.id(bound))?.state.outcome == .signedOut)
        }
    }

    @Test(
        "a line that is no login is refused with its reason",
        arguments: [
            (#""request":"{}""#, "'request'"), (#""request":1"#, "'request'"), (#""login_id":"x""#, "'request'"),
        ])
    func refused(_ members: String, _ word: String) async throws {
        try await transfer.withRoute { first, _, _ in
            transfer.folder.write("mine.jsonl", #"{"type":"login",\#(members)}"#)
            let (_, refused) = try await first.load(transfer.folder, "mine.jsonl")
            #expect(refused.count == 1 && refused[0].contains(word))
        }
    }
}
