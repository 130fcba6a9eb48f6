import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import Testing

@testable import Sessions
@testable import sojourn

/// A key that does not leave its phone.
struct PhoneKey: Sendable {
    private let key = SigningKey.generate(.es256)

    var thumbprint: String { JWK(key.publicKey).thumbprint }
    var deviceKey: DeviceKey { DeviceKey(key.publicKey) }

    /// An assertion for `session` (RFC 7523), good for a minute, with its own id.
    func assertion(for session: Session, to context: ServiceContext) -> String {
        let claims = """
            {"iss":"\(session.id)","sub":"\(session.userID)","aud":"\(context.issuer)",\
            "exp":\(context.clock.now.secondsSinceEpoch + 60),"jti":"\(Base64URL.encode(randomBytes(count: 12)))"}
            """
        return sign([#"{"alg":"ES256"}"#, claims])
    }

    /// A proof of possession (RFC 9449) beside `token`, made now for a request to that URI.
    func proof(_ method: HTTP.Method, _ uri: String, token: String, nonce: String?) -> String {
        guard case .p256(let x, let y) = key.publicKey.coordinates else { return "" }
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        let claims = """
            {"jti":"\(Base64URL.encode(randomBytes(count: 12)))","htm":"\(method)","htu":"\(uri)",\
            "iat":\(Int(Date().timeIntervalSince1970)),"ath":"\(DPoPProof.hash(ofAccessToken: token))"\
            \(nonce.map { #","nonce":"\#($0)""# } ?? "")}
            """
        return sign([#"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#, claims])
    }

    private func sign(_ parts: [String]) -> String {
        let input = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }
}

/// A user's phones with sessions that are good for nothing without a key, a password or a provider's word; each uses its session at
/// whatever store it is.
struct BoundPhones {
    static let resources = ["https://orders.example", "https://mail.example"]

    private let name: String
    private let proving = PhoneKey()
    private let resuming = PhoneKey()
    private let biometric = PhoneKey()
    private let stranger = PhoneKey()
    private var proved: TokenGrant
    private let resumed: Session
    private var guarded: TokenGrant
    private var secret: TokenGrant
    private let subject: Identity.Key
    private var federated: TokenGrant
    private let firstProved: String

    /// Logs in on all of them.
    init(_ name: String, at stage: TransferFixture) async throws {
        self.name = name
        _ = try await stage.store.updateClient(Client.mobileID) { change in
            change.client?.grantTypes = [.refreshToken, .jwtBearer, .login]
            change.client?.resources = Self.resources
            change.client?.userPresenceMaxAge = .seconds(3600)
        }
        _ = try await stage.createUser(name)
        func logIn(
            _ device: String, _ mode: AuthenticationMode = .no, _ edit: (inout SessionRequest) -> Void = { _ in }
        ) async throws -> TokenGrant {
            var request = SessionRequest(
                clientID: Client.mobileID, device: Device(id: device), authenticationMode: mode)
            edit(&request)
            return try await stage.services.login.logIn(
                request, username: name, password: TransferFixture.password, from: .system)
        }
        proved = try await logIn("proving") { [proving] request in
            request.keyThumbprint = proving.thumbprint
            request.resources = [Self.resources[0]]
        }
        firstProved = try #require(proved.refreshToken)
        resumed = try await logIn("resuming") { [resuming] in $0.deviceKey = resuming.deviceKey }.session
        guarded = try await logIn("guarded", .biometric) { [biometric] in $0.presenceKey = biometric.deviceKey }
        secret = try await logIn("secret", .password)
        subject = try #require(Identity.Key(provider: "acme", subject: "0|\(name)"))
        var request = SessionRequest(clientID: Client.mobileID, device: Device(id: "federated"))
        request.providerRefreshToken = "theirs-0"
        federated = try await stage.services.federation.logIn(
            request, as: Self.identity(subject, at: stage, recheck: TransferFixture.recheckTerms), from: .system)
    }

    private static func identity(
        _ subject: Identity.Key, at stage: TransferFixture, recheck: RecheckTerms? = nil
    ) -> ExternalIdentity {
        ExternalIdentity(
            subject, tokenID: Base64URL.encode(randomBytes(count: 12)),
            goodUntil: stage.context.clock.now + .seconds(600), clientID: "app-at-acme", recheck: recheck)
    }

    /// Every phone goes on at `stage` with what it has; no phone goes on without it.
    mutating func goOn(at stage: TransferFixture) async throws {
        try await goOnByProof(at: stage)
        try await goOnByAssertion(at: stage)
        try await goOnByPresence(at: stage)
        let token = try #require(federated.refreshToken)
        federated = try await stage.renew(token)
        let again = SessionRequest(clientID: Client.mobileID, device: Device(id: "federated-too"))
        let other = try await stage.services.federation.logIn(
            again, as: Self.identity(subject, at: stage), from: .system)
        #expect(other.user.id == federated.user.id)
    }

    /// The session that a provider is asked about.
    var federatedID: Identifier<Session> { federated.session.id }

    private mutating func goOnByProof(at stage: TransferFixture) async throws {
        let token = try #require(proved.refreshToken)
        for thumbprint in [nil, stranger.thumbprint] {
            #expect(await stage.refused(token, by: thumbprint) == "binding_mismatch")
        }
        // Of an API that the login has not asked for, though the client could have.
        #expect(await stage.refused(token, by: proving.thumbprint, for: [Self.resources[1]]) == "invalid_target")
        // A token that another process of the phone kept for long ends nothing.
        _ = try await stage.renew(firstProved, by: proving.thumbprint)
        proved = try await stage.renew(token, by: proving.thumbprint)
        #expect(proved.session.resources == [Self.resources[0]])
        #expect(proved.session.keyThumbprint == proving.thumbprint)
    }

    private func goOnByAssertion(at stage: TransferFixture) async throws {
        for (key, isOwn) in [(stranger, false), (resuming, true)] {
            let attempt = RefreshAttempt(
                token: key.assertion(for: resumed, to: stage.context), clientID: Client.mobileID, isOfDeviceKey: true)
            let answer = await Result { () async throws(ServiceError) in
                try await stage.services.deviceKeys.resume(attempt, from: .system)
            }
            #expect((try? answer.get().session.id) == (isOwn ? resumed.id : nil))
        }
    }

    private mutating func goOnByPresence(at stage: TransferFixture) async throws {
        for token in [guarded, secret].compactMap(\.refreshToken) {
            #expect(await stage.asksForUser(token))
        }
        let strange = stranger.assertion(for: guarded.session, to: stage.context)
        let (guardedToken, secretToken) = (try #require(guarded.refreshToken), try #require(secret.refreshToken))
        #expect(await stage.asksForUser(guardedToken, PresenceEvidence(assertion: strange)))
        let assertion = biometric.assertion(for: guarded.session, to: stage.context)
        guarded = try await stage.renew(guardedToken, PresenceEvidence(assertion: assertion))
        #expect(guarded.session.authenticationMode == .biometric)
        secret = try await stage.renew(secretToken, PresenceEvidence(password: TransferFixture.password))
        #expect(secret.session.authenticationMode == .password)
    }
}

extension TransferFixture {
    /// A refresh with what it takes.
    @discardableResult
    fileprivate func renew(
        _ token: String, by thumbprint: String? = nil, for resources: [String] = [],
        _ evidence: PresenceEvidence = PresenceEvidence()
    ) async throws(ServiceError) -> TokenGrant {
        let attempt = RefreshAttempt(
            token: token, clientID: Client.mobileID, resources: resources,
            proof: thumbprint.map { ProofOfPossession(of: $0, hasNonce: true) { .first } }, evidence: evidence)
        return try await services.refresh.refresh(attempt, from: .system)
    }

    /// Why a refresh is refused; nil: it is not.
    fileprivate func refused(
        _ token: String, by thumbprint: String?, for resources: [String] = []
    ) async -> String? {
        do throws(ServiceError) {
            try await renew(token, by: thumbprint, for: resources)
            return nil
        } catch {
            switch error {
            case .refused(let reason): return reason.rawValue
            case .invalidTarget: return "invalid_target"
            default: return "\(error)"
            }
        }
    }

    /// Whether a refresh is refused because the user has to show to be there.
    fileprivate func asksForUser(_ token: String, _ evidence: PresenceEvidence = PresenceEvidence()) async -> Bool {
        do throws(ServiceError) {
            try await renew(token, evidence)
        } catch {
            if case .insufficientUserAuthentication = error { return true }
        }
        return false
    }
}
