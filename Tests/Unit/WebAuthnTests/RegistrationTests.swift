import Cryptography
import JSON
import Testing
import WebAuthn
import WebAuthnFixture

/// A registration that is right but for one thing, and what is said of it.
struct WrongRegistration: Sendable, CustomTestStringConvertible {
    let name: String
    let error: WebAuthnError
    let edit: @Sendable (inout SoftAuthenticator) -> Void
    var testDescription: String { name }

    init(_ name: String, _ error: WebAuthnError, _ edit: @escaping @Sendable (inout SoftAuthenticator) -> Void) {
        (self.name, self.error, self.edit) = (name, error, edit)
    }

    private static func key(_ members: [(Int, [UInt8])]) -> [UInt8] {
        EncodedCBOR.map(members.map { (EncodedCBOR.integer($0.0), $0.1) })
    }
    private static let number = EncodedCBOR.integer
    private static let text = EncodedCBOR.text
    private static let bytes = EncodedCBOR.bytes

    static let all: [WrongRegistration] = ceremony + data + keys + statements

    private static let ceremony = [
        WrongRegistration("type", .wrongType) { $0.type = "webauthn.get" },
        WrongRegistration("origin", .wrongOrigin) { $0.origin = "https://example.org.evil.test" },
        WrongRegistration("origin with a slash", .wrongOrigin) { $0.origin = "https://example.org/" },
        WrongRegistration("crossOrigin", .crossOrigin) { $0.moreClientData = #","crossOrigin":true"# },
        WrongRegistration("topOrigin", .crossOrigin) {
            $0.moreClientData = #","crossOrigin":false,"topOrigin":"https://example.com""#
        },
        WrongRegistration("crossOrigin is no truth value", .malformedClientData) {
            $0.moreClientData = #","crossOrigin":"false""#
        },
        WrongRegistration("topOrigin is no text", .malformedClientData) { $0.moreClientData = #","topOrigin":null"# },
        WrongRegistration("origin twice", .malformedClientData) { $0.moreClientData = #","origin":"https://a.test""# },
        WrongRegistration("RP ID", .wrongRelyingParty) { $0.rpID = "example.com" },
        WrongRegistration("not present", .userNotPresent) { $0.flags = 0x04 },
        WrongRegistration("not verified", .userNotVerified) { $0.flags = 0x01 },
        WrongRegistration("backed up but not eligible", .backupContradiction) { $0.flags = 0x15 },
    ]

    private static let data = [
        WrongRegistration("trailing bytes", .malformedAuthenticatorData) { $0.trailer = [0] },
        WrongRegistration("extensions are no map", .malformedAuthenticatorData) { $0.extensions = number(1) },
        WrongRegistration("extensions missing", .malformedCBOR) { $0.extensions = [] },
        WrongRegistration("no credential ID", .malformedResponse) { $0.credentialID = [] },
        WrongRegistration("credential ID of 1024 bytes", .tooLong) {
            $0.credentialID = [UInt8](repeating: 1, count: 1024)
        },
    ]

    private static let keys = [
        WrongRegistration("key is no map", .malformedKey) { $0.publicKey = number(1) },
        WrongRegistration("key of three members for four", .malformedKey) {
            // Seen of Ed25519 keys: the head announces one member fewer than follow.
            $0 = SoftAuthenticator(.eddsa)
            $0.publicKey = [0xA3] + SoftAuthenticator.coseKey($0.key.publicKey).dropFirst()
        },
        WrongRegistration("key without algorithm", .malformedKey) { $0.publicKey = key([(1, number(2))]) },
        WrongRegistration("key without type", .malformedKey) { $0.publicKey = key([(3, number(-7))]) },
        WrongRegistration("ES256K", .unsupportedAlgorithm) { $0.publicKey = key([(1, number(2)), (3, number(-47))]) },
        WrongRegistration("not on the curve", .malformedKey) {
            $0.publicKey = key([
                (1, number(2)), (3, number(-7)), (-1, number(1)), (-2, bytes(.init(repeating: 1, count: 32))),
                (-3, bytes(.init(repeating: 1, count: 32))),
            ])
        },
        WrongRegistration("curve of another algorithm", .malformedKey) {
            guard case .p256(let x, let y) = $0.key.publicKey.coordinates else { return }
            $0.publicKey = key([
                (1, number(2)), (3, number(-35)), (-1, number(1)), (-2, bytes(x)), (-3, bytes(y)),
            ])
        },
        WrongRegistration("type of another algorithm", .malformedKey) {
            guard case .p256(let x, let y) = $0.key.publicKey.coordinates else { return }
            $0.publicKey = key([
                (1, number(1)), (3, number(-7)), (-1, number(1)), (-2, bytes(x)), (-3, bytes(y)),
            ])
        },
        WrongRegistration("compressed point", .malformedKey) {
            guard case .p256(let x, _) = $0.key.publicKey.coordinates else { return }
            $0.publicKey = key([(1, number(2)), (3, number(-7)), (-1, number(1)), (-2, bytes(x)), (-3, [0xF5])])
        },
        WrongRegistration("RSA with 1024 bits", .malformedKey) {
            $0.publicKey = key([
                (1, number(3)), (3, number(-257)), (-1, bytes(.init(repeating: 0xFF, count: 128))),
                (-2, bytes([1, 0, 1])),
            ])
        },
        WrongRegistration("key too long", .malformedKey) {
            guard case .p256(let x, let y) = $0.key.publicKey.coordinates else { return }
            $0.publicKey = key([
                (1, number(2)), (3, number(-7)), (-1, number(1)), (-2, bytes(x)), (-3, bytes(y)),
                (9, bytes(.init(repeating: 0, count: 2048))),
            ])
        },
    ]

    private static func statement(_ members: [(String, [UInt8])]) -> [UInt8] {
        EncodedCBOR.map(members.map { (text($0.0), $0.1) })
    }

    private static let statements = [
        WrongRegistration("none with a statement", .malformedAttestation) {
            $0.statement = statement([("alg", number(-7))])
        },
        WrongRegistration("statement is no map", .malformedAttestation) { $0.statement = bytes([]) },
        WrongRegistration("packed without signature", .malformedAttestation) {
            $0.format = "packed"
            $0.statement = statement([("alg", number(-7))])
        },
        WrongRegistration("packed with a certificate that is none", .malformedAttestation) {
            $0.format = "packed"
            $0.statement = statement([
                ("alg", number(-7)), ("sig", bytes([1])), ("x5c", EncodedCBOR.array([number(1)])),
            ])
        },
        WrongRegistration("fido-u2f without certificates", .malformedAttestation) {
            $0.format = "fido-u2f"
            $0.statement = statement([("sig", bytes([1])), ("x5c", EncodedCBOR.array([]))])
        },
        WrongRegistration("apple without certificates", .malformedAttestation) { $0.format = "apple" },
        WrongRegistration("tpm without certInfo", .malformedAttestation) {
            $0.format = "tpm"
            $0.statement = statement([
                ("ver", text("2.0")), ("alg", number(-7)), ("sig", bytes([1])), ("pubArea", bytes([1])),
            ])
        },
        WrongRegistration("android-key without algorithm", .malformedAttestation) {
            $0.format = "android-key"
            $0.statement = statement([("sig", bytes([1])), ("x5c", EncodedCBOR.array([bytes([1])]))])
        },
        WrongRegistration("android-safetynet without response", .malformedAttestation) {
            $0.format = "android-safetynet"
            $0.statement = statement([("ver", text("1"))])
        },
        WrongRegistration("no format", .malformedAttestation) { $0.format = "" },
    ]
}

/// Registrations, each wrong in one place.
@Suite struct RegistrationTests {
    static let site = RelyingParty(id: "example.org", name: "Example", origins: ["https://example.org"])
    static let challenge = [UInt8](repeating: 9, count: 32)

    private func register(_ authenticator: SoftAuthenticator) throws -> NewCredential {
        try Self.site.register(
            RegistrationResponse(authenticator.register(Self.challenge)), challenge: Self.challenge)
    }

    @Test("a right registration is accepted", arguments: [SignatureAlgorithm.es256, .eddsa])
    func right(_ algorithm: SignatureAlgorithm) throws {
        var authenticator = SoftAuthenticator(algorithm)
        authenticator.signCount = 77
        let new = try register(authenticator)
        #expect(new.id == authenticator.credentialID)
        #expect(new.publicKey.key == authenticator.key.publicKey)
        #expect(new.signCount == 77)
        #expect(new.isBackupEligible && new.isBackedUp && new.isUserVerified)
        #expect(new.aaguid == authenticator.aaguid)
        #expect(new.transports == ["hybrid", "internal"], "words that the specification does not have are left out")
        #expect(try COSEKey(new.publicKey.bytes) == new.publicKey)
    }

    @Test("a wrong registration is refused for what is wrong", arguments: WrongRegistration.all)
    func wrong(_ wrong: WrongRegistration) {
        var authenticator = SoftAuthenticator()
        wrong.edit(&authenticator)
        #expect(throws: wrong.error) { try register(authenticator) }
    }

    @Test("a device-bound credential without a model, of an unknown format, with extensions, is accepted")
    func unusual() throws {
        var authenticator = SoftAuthenticator()
        authenticator.flags = SoftAuthenticator.deviceBound | 0x22
        authenticator.aaguid = .init(repeating: 0, count: 16)
        authenticator.format = "compound"
        authenticator.extensions = EncodedCBOR.map([
            (EncodedCBOR.text("credProtect"), EncodedCBOR.integer(3)),
            (EncodedCBOR.text("hmac-secret"), [0xF5]), (EncodedCBOR.text("minPinLength"), [0xF6]),
        ])
        authenticator.moreClientData = #","crossOrigin":false,"later":[{"a":1.5}]"#
        let new = try register(authenticator)
        #expect(!new.isBackupEligible && !new.isBackedUp)
        #expect(new.aaguid == nil)
    }

    @Test("another challenge is refused") func challenge() throws {
        let response = try RegistrationResponse(SoftAuthenticator().register(Self.challenge))
        for other in [[], Array(Self.challenge.dropLast()), Self.challenge + [9], .init(repeating: 8, count: 32)] {
            #expect(throws: WebAuthnError.wrongChallenge) { try Self.site.register(response, challenge: other) }
        }
    }

    @Test("a credential ID that differs from that of the authenticator is refused") func credentialID() throws {
        var json = SoftAuthenticator().register(Self.challenge)
        json["id"] = .string("AAAA")
        #expect(throws: WebAuthnError.credentialIDMismatch) { try RegistrationResponse(json) }
        json["rawId"] = .string("AAAA")
        let response = try RegistrationResponse(json)
        #expect(throws: WebAuthnError.credentialIDMismatch) {
            try Self.site.register(response, challenge: Self.challenge)
        }
    }

    @Test("an algorithm that was not offered is refused") func algorithms() throws {
        let response = try RegistrationResponse(SoftAuthenticator(.eddsa).register(Self.challenge))
        #expect(throws: WebAuthnError.unsupportedAlgorithm) {
            try Self.site.register(response, challenge: Self.challenge, algorithms: [.es256, .rs256])
        }
    }

    @Test("a credential ID in authenticator data has 1 to 1023 bytes", arguments: [0, 1, 1023, 1024])
    func credentialIDLength(_ count: Int) {
        var authenticator = SoftAuthenticator()
        authenticator.credentialID = [UInt8](repeating: 1, count: count)
        let data = try? AuthenticatorData(authenticator.authenticatorData(isNew: true))
        #expect((data != nil) == (1...1023).contains(count))
    }

    @Test("client data has at most 4096 bytes") func clientDataLength() throws {
        let head = #"{"type":"x","challenge":"AA","origin":"o","more":""#
        for (count, isAccepted) in [(4096, true), (4097, false)] {
            let text = head + String(repeating: "x", count: count - head.utf8.count - 2) + #""}"#
            #expect(text.utf8.count == count)
            if isAccepted {
                _ = try ClientData(Array(text.utf8))
            } else {
                #expect(throws: WebAuthnError.tooLong) { try ClientData(Array(text.utf8)) }
            }
        }
    }

    @Test("an attestation object has three members, not two and not four") func attestationMembers() throws {
        let authenticator = SoftAuthenticator()
        let right = authenticator.register(Self.challenge)
        let entries = [
            (EncodedCBOR.text("fmt"), EncodedCBOR.text("none")), (EncodedCBOR.text("attStmt"), EncodedCBOR.map([])),
            (EncodedCBOR.text("authData"), EncodedCBOR.bytes(authenticator.authenticatorData(isNew: true))),
            (EncodedCBOR.text("epAtt"), [0xF5]),
        ]
        for count in 2...4 {
            var json = right
            guard case .object(var response)? = json["response"] else { return }
            response["attestationObject"] = .string(
                Base64URL.encode(EncodedCBOR.map(Array(entries.prefix(count)))))
            json["response"] = .object(response)
            let accepted = try? Self.site.register(RegistrationResponse(json), challenge: Self.challenge)
            #expect((accepted != nil) == (count == 3))
        }
    }

    @Test("a frame is accepted below a known top origin only") func frames() throws {
        let site = RelyingParty(
            id: "example.org", name: "Example", origins: ["https://example.org"],
            framing: .allowed(topOrigins: ["https://a.test"]))
        for (members, isAccepted) in [
            (#","crossOrigin":true"#, true), (#","crossOrigin":true,"topOrigin":"https://a.test""#, true),
            (#","crossOrigin":true,"topOrigin":"https://b.test""#, false), ("", true),
        ] {
            var authenticator = SoftAuthenticator()
            authenticator.moreClientData = members
            let response = try RegistrationResponse(authenticator.register(Self.challenge))
            #expect(((try? site.register(response, challenge: Self.challenge)) != nil) == isAccepted)
        }
    }

    @Test("a member that is missing or too long is refused") func members() {
        let json = SoftAuthenticator().register(Self.challenge)
        for name in ["id", "type", "response"] {
            var edited = json
            edited[name] = nil
            #expect(throws: WebAuthnError.malformedResponse) { try RegistrationResponse(edited) }
        }
        for (value, error) in [
            (JSONValue.string("é"), WebAuthnError.malformedResponse), (.integer(1), .malformedResponse),
            (.string(String(repeating: "A", count: 24_000)), .tooLong),
        ] {
            for name in ["clientDataJSON", "attestationObject"] {
                var edited = json
                guard case .object(var response) = json["response"] else { return }
                response[name] = value
                edited["response"] = .object(response)
                #expect(throws: error) { try RegistrationResponse(edited) }
            }
        }
    }
}
