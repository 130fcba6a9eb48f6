#if canImport(AuthenticationServices)
    internal import AuthenticationServices
    public import Foundation

    /// The passkeys of the system, by `ASAuthorizationPlatformPublicKeyCredentialProvider`. The app has the entitlement
    /// `webcredentials:` for the relying party, and the relying party names the app in `apple-app-site-association`.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public final class PlatformPasskeys: NSObject, PasskeyAuthenticator {
        private let onlyOfThisDevice: Bool

        /// An authenticator.
        ///
        /// - Parameter onlyOfThisDevice: whether a user without a passkey on this device sees nothing, instead of the code for
        ///   another device. The error is then `cancelled` at once.
        public init(onlyOfThisDevice: Bool = false) { self.onlyOfThisDevice = onlyOfThisDevice }

        /// Asks the user for a passkey.
        public func assertion(for request: PasskeyAssertionRequest) async throws(PasskeyError) -> PasskeyAssertion {
            let answer = try await perform {
                let asked = ASAuthorizationPlatformPublicKeyCredentialProvider(
                    relyingPartyIdentifier: request.relyingParty
                ).createCredentialAssertionRequest(challenge: request.challenge)
                asked.userVerificationPreference = .required
                asked.allowedCredentials = request.allowedCredentials.map {
                    ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: $0)
                }
                return asked
            }
            guard case .assertion(let assertion) = answer else { throw .failed("not an assertion") }
            return assertion
        }

        /// Lets the user make a passkey.
        public func registration(
            for request: PasskeyRegistrationRequest
        ) async throws(PasskeyError) -> PasskeyRegistration {
            let answer = try await perform {
                let asked = ASAuthorizationPlatformPublicKeyCredentialProvider(
                    relyingPartyIdentifier: request.relyingParty
                ).createCredentialRegistrationRequest(
                    challenge: request.challenge, name: request.userName, userID: request.userID)
                asked.userVerificationPreference = .required
                if #available(iOS 17.4, macOS 14.4, visionOS 1.1, *) {
                    asked.excludedCredentials = request.excludedCredentials.map {
                        ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: $0)
                    }
                }
                return asked
            }
            guard case .registration(let made) = answer else { throw .failed("not a registration") }
            return made
        }

        private func perform(
            _ make: @escaping @MainActor @Sendable () -> ASAuthorizationRequest
        ) async throws(PasskeyError) -> Answer {
            let prompt = Prompt()
            let result = await withTaskCancellationHandler {
                await prompt.run(make, onlyOfThisDevice: onlyOfThisDevice)
            } onCancel: {
                Task { @MainActor in prompt.cancel() }
            }
            return try result.get()
        }
    }

    private enum Answer: Sendable {
        case assertion(PasskeyAssertion)
        case registration(PasskeyRegistration)
    }

    /// One prompt, which keeps itself until it ends.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    @MainActor
    private final class Prompt: NSObject, ASAuthorizationControllerDelegate,
        ASAuthorizationControllerPresentationContextProviding
    {
        typealias Outcome = Result<Answer, PasskeyError>

        private var controller: ASAuthorizationController?
        private var continuation: CheckedContinuation<Outcome, Never>?
        private var isCancelled = false

        nonisolated override init() { super.init() }

        func run(_ make: @MainActor () -> ASAuthorizationRequest, onlyOfThisDevice: Bool) async -> Outcome {
            guard !isCancelled, !Task.isCancelled else { return .failure(.cancelled) }
            let outcome: Outcome = await withCheckedContinuation { continuation in
                self.continuation = continuation
                let controller = ASAuthorizationController(authorizationRequests: [make()])
                controller.delegate = self
                controller.presentationContextProvider = self
                self.controller = controller
                controller.performRequests(
                    options: onlyOfThisDevice ? .preferImmediatelyAvailableCredentials : [])
            }
            controller = nil
            return outcome
        }

        func cancel() {
            isCancelled = true
            controller?.cancel()
        }

        private func end(_ outcome: Outcome) {
            continuation?.resume(returning: outcome)
            continuation = nil
        }

        func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor {
            ASPresentationAnchor()
        }

        func authorizationController(
            controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
        ) {
            switch authorization.credential {
            case let assertion as ASAuthorizationPlatformPublicKeyCredentialAssertion:
                end(
                    .success(
                        .assertion(
                            PasskeyAssertion(
                                credentialID: assertion.credentialID, clientDataJSON: assertion.rawClientDataJSON,
                                authenticatorData: assertion.rawAuthenticatorData, signature: assertion.signature,
                                userHandle: assertion.userID))))
            case let made as ASAuthorizationPlatformPublicKeyCredentialRegistration:
                guard let object = made.rawAttestationObject else {
                    return end(.failure(.failed("the new passkey has no public key")))
                }
                end(
                    .success(
                        .registration(
                            PasskeyRegistration(
                                credentialID: made.credentialID, clientDataJSON: made.rawClientDataJSON,
                                attestationObject: object))))
            default: end(.failure(.failed("the system has answered with another kind of credential")))
            }
        }

        func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
            let code = (error as NSError).code
            switch ASAuthorizationError.Code(rawValue: code) {
            case .canceled: end(.failure(.cancelled))
            case .matchedExcludedCredential: end(.failure(.alreadyRegistered))
            default: end(.failure(.failed("ASAuthorizationController \(code)")))
            }
        }
    }
#endif
