import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
import SQLiteStore
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// The key of a device for encrypted messages.
struct PushKey: Sendable {
    let key = AgreementKey.generate()

    var thumbprint: String { JWK(key.publicKey).thumbprint }

    /// The public key as JSON, with further members.
    func jwk(_ more: String = #","use":"enc""#) -> String {
        guard case .p256(let x, let y) = key.publicKey.coordinates else { return "{}" }
        return #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"\#(more)}"#
    }

    /// Registers the key for the session of an app.
    func register(_ server: EndpointsFixture, _ tokens: Tokens) async -> Answer {
        await server.call(
            .put, "/v1/me/encryption-key", #"{"encryption_key":\#(jwk())}"#, bearer: tokens.access)
    }

    /// The content of a message to this key; nil if it is for another one, or was changed.
    func open(_ text: String) throws -> JSONValue? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let json = try #require(Base64URL.decode(parts[0]))
        let header = try #require(JSONValue(text: json))
        let sender = try #require(header["epk"])
        let epk = try JSONDecoder().decode(JWK.self, from: JSONEncoder().encode(sender))
        let secret = try #require(key.agree(with: epk.verificationKey))
        let info = [0, 0, 0, 7] + Array("A256GCM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        let content = try #require(SecretKey(concatKDF(secret: secret, info: info, count: 32)))
        let sealed = try [2, 3, 4].flatMap { try #require(Base64URL.decode(parts[$0])) }
        let opened = AES256GCM(key: content).open(sealed, associatedData: Array(parts[0].utf8))
        return opened.flatMap { JSONValue(text: $0) }
    }
}

/// Messages about pushed logins, encrypted to keys of the devices.
struct EncryptedPushTests {
    /// Pushes a login to a user, and returns it with its messages.
    private static func push(
        _ server: EndpointsFixture, to phone: Tokens, kind: PhoneLogin.Kind = .backchannel
    ) async throws -> (login: PhoneLogin, event: AuditEvent) {
        let now = server.context.clock.now
        var request = PhoneLogin.Request()
        request.handle = server.context.random.bytes(PhoneLoginCode.handleCount)
        request.epoch = try await server.store.settings().epoch
        let login = PhoneLogin(
            id: Identifier(random: .system), kind: kind, clientID: "tv", request: request, startedAt: now,
            inputUntil: now + .seconds(180))
        let session = try #require(Identifier<Session>(phone.sessionID))
        let userID = try #require(try await server.store.session(session)).session.userID
        let event = AuditEvent(
            .loginRequested, at: now, by: .system, userID: userID, sessionID: login.id, clientID: "tv")
        try await server.store.requestLogin(login, [event])
        return (login, event)
    }

    private static func messages(_ server: EndpointsFixture, _ event: AuditEvent) async throws -> [PushMessage] {
        try await PushMessages(server.context).messages(about: event)
    }

    @Test("a device registers its key, and replaces and removes it; the same key again writes nothing")
    func registration() async throws {
        try await DeviceLogin.with { server, phone in
            let (one, two) = (PushKey(), PushKey())
            let answer = await one.register(server, phone)
            #expect(answer.status == 200 && answer.string("kid") == one.thumbprint, "\(answer.text)")
            let written = server.environment.writes.load(ordering: .relaxed)
            #expect(await one.register(server, phone).status == 200)
            #expect(server.environment.writes.load(ordering: .relaxed) == written)
            let (_, event) = try await Self.push(server, to: phone)
            #expect(await two.register(server, phone).string("kid") == two.thumbprint)
            let message = try #require(try await Self.messages(server, event).first)
            #expect(try two.open(message.text) != nil)
            #expect(try one.open(message.text) == nil)
            let removed = await server.call(.delete, "/v1/me/encryption-key", bearer: phone.access)
            #expect(removed.status == 204)
            #expect(try await Self.messages(server, event).isEmpty)
        }
    }

    @Test("a refresh keeps the key, and a new login of the device begins without one")
    func lifetime() async throws {
        try await DeviceLogin.with { server, phone in
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            let refreshed = try Tokens(await server.refresh(phone.refresh))
            let (_, event) = try await Self.push(server, to: refreshed)
            #expect(try await Self.messages(server, event).map(\.sessionID.description) == [phone.sessionID])
            let next = try await server.logIn()
            #expect(try await Self.messages(server, event).isEmpty)
            #expect(await key.register(server, next).status == 200)
            #expect(try await Self.messages(server, event).map(\.sessionID.description) == [next.sessionID])
        }
    }

    static let wrongKeys = [
        "{}", #"{"encryption_key":null}"#, #"{"encryption_key":"P-256"}"#,
        #"{"encryption_key":{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}}"#,
        #"{"encryption_key":{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}"#,
        #"{"encryption_key":\#(PushKey().jwk(#","use":"sig""#))}"#,
        #"{"encryption_key":\#(PushKey().jwk(#","alg":"ES256""#))}"#,
        #"{"encryption_key":\#(PushKey().jwk(#","d":"AA""#))}"#,
        // Not on the curve.
        #"{"encryption_key":{"kty":"EC","crv":"P-256","x":"\#(String(repeating: "A", count: 42) + "E")","y":"\#(String(repeating: "A", count: 42) + "E")"}}"#,
    ]

    @Test("a malformed encryption key is refused, and changes nothing", arguments: wrongKeys)
    func wrongKey(json: String) async throws {
        try await DeviceLogin.with { server, phone in
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            let answer = await server.call(.put, "/v1/me/encryption-key", json, bearer: phone.access)
            #expect(answer.status == 400 && answer.string("code") == "invalid_request", "\(answer.text)")
            let (_, event) = try await Self.push(server, to: phone)
            let message = try #require(try await Self.messages(server, event).first)
            #expect(try key.open(message.text) != nil)
        }
    }

    @Test("a key that signs for the session is refused")
    func signingKey() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no)
            let answer = await server.call(
                .put, "/v1/me/encryption-key", #"{"encryption_key":\#(phone.device.jwk)}"#,
                bearer: phone.tokens.access)
            #expect(answer.status == 400 && answer.text.contains("another key"), "\(answer.text)")
        }
    }

    @Test("the message names kind, server, session, login and times, and its code lets the phone claim the login")
    func content() async throws {
        try await DeviceLogin.with { server, phone in
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            let (login, event) = try await Self.push(server, to: phone)
            server.moveClock(to: 60)
            let message = try #require(try await Self.messages(server, event).first)
            #expect(message.clientID == Client.mobileID && message.deviceID == "phone-1")
            let content = try #require(try key.open(message.text))
            #expect(content["type"]?.string == "login" && content["iss"]?.string == EndpointsFixture.issuer)
            #expect(content["sid"]?.string == phone.sessionID)
            #expect(content["login_id"]?.string == login.id.description)
            #expect(content["iat"] == .integer(EndpointsFixture.start + 60))
            #expect(content["exp"] == .integer(EndpointsFixture.start + 180))
            let code = try #require(content["login"]?.string)
            #expect(!message.text.contains(code))
            let claimed = await server.call(
                .post, "/v1/me/logins", #"{"code":"\#(code)","source":"push"}"#, bearer: phone.access)
            #expect(claimed.status == 200 && claimed.string("login_id") == login.id.description, "\(claimed.text)")
            #expect(try await Self.messages(server, event).isEmpty, "the login was claimed")
        }
    }

    @Test("a message and all around it fits into 4 KiB, however long the names are")
    func size() async throws {
        try await DeviceLogin.with { server, _ in
            let device = String(repeating: "d", count: Device.idLengthMax)
            let phone = try await server.logIn(device: device)
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            let (_, event) = try await Self.push(server, to: phone)
            let message = try #require(try await Self.messages(server, event).first)
            #expect((400...1024).contains(message.text.utf8.count), "\(message.text.utf8.count)")
            #expect(PushMessage.lengthMax <= 4096 - 1024)
        }
    }

    @Test("each device with a key gets a message of its own, up to twenty of them")
    func manyDevices() async throws {
        try await DeviceLogin.with { server, phone in
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            _ = try await server.logIn(device: "without")
            for number in 2...22 {
                let next = try await server.logIn(device: "phone-\(number)")
                #expect(await PushKey().register(server, next).status == 200)
            }
            let (_, event) = try await Self.push(server, to: phone)
            let messages = try await Self.messages(server, event)
            #expect(messages.count == PushMessages.devicesMax && Set(messages.map(\.text)).count == messages.count)
            #expect(!messages.contains { $0.deviceID == "without" })
        }
    }

    /// What a phone, a login or a user can be, so that there is no message.
    enum Silence: String, CaseIterable, Sendable {
        case expired, ended, disabled, probation, otherUser = "other user", enrolment, otherEvent = "other event"
    }

    @Test("there is no message to a phone that could not act on it", arguments: Silence.allCases)
    func silence(cause: Silence) async throws {
        try await DeviceLogin.with { server, phone in
            var phone = phone
            if cause == .probation {
                phone = try await DeviceLogin.complete(server, phone).tokens
                let barred = await PushKey().register(server, phone)
                #expect(barred.status == 403 && barred.string("code") == "barred")
                let id = try #require(Identifier<Session>(phone.sessionID))
                let key = EncryptionKey(PushKey().key.publicKey)?.text
                _ = try await server.store.updateSession(id) { $0.session.encryptionKey = key }
            } else {
                #expect(await PushKey().register(server, phone).status == 200)
            }
            let kind: PhoneLogin.Kind = cause == .enrolment ? .enrolment : .backchannel
            var (_, event) = try await Self.push(server, to: phone, kind: kind)
            switch cause {
            case .expired: server.moveClock(to: 180)
            case .ended: #expect(await server.call(.post, "/v1/logout", bearer: phone.access).status == 204)
            case .disabled:
                let answer = await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: phone.access)
                #expect(answer.status == 200)
            case .otherUser: event.userID = Identifier(random: .system)
            case .otherEvent: event.kind = .loginClaimed
            case .probation, .enrolment: break
            }
            #expect(try await Self.messages(server, event).isEmpty)
        }
    }

    @Test("a server for tests gives the message of a login that waits")
    func testLogin() async throws {
        try await EndpointsFixture.with(testClock: TestClock()) { server in
            let phone = try await server.logIn()
            let body = #"{"state":"STARTING","phone_session_id":"\#(phone.sessionID)"}"#
            let without = await server.admin(.post, "/admin/v1/test/logins", body)
            #expect(without.status == 201 && without.string("push_message") == nil, "\(without.text)")
            let key = PushKey()
            #expect(await key.register(server, phone).status == 200)
            let made = await server.admin(.post, "/admin/v1/test/logins", body)
            let text = try #require(made.string("push_message"))
            let content = try #require(try key.open(text))
            #expect(content["login_id"]?.string == made.string("login", "login_id"))
            #expect(content["login"]?.string == made.string("push"))
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let pushed = events.filter { $0.string("event") == "login_requested" }
            #expect(pushed.compactMap { $0.string("session_id") }.contains(made.string("login", "login_id") ?? ""))
        }
    }
}
