public import Sessions
internal import Telemetry

extension IdentityProviders: ProviderAsker {
    /// Asks the provider's token endpoint once, and checks an ID token in the response like that of a login, except for
    /// its nonce (OpenID Connect Core §12.2).
    public func ask(_ question: ProviderQuestion) async -> ProviderAnswer {
        guard let member = members.first(where: { $0.provider.name == question.provider }),
            let endpoint = member.tokenEndpoint
        else { return .failed(mayHaveArrived: false) }
        switch await endpoint.refresh(question.refreshToken, clientID: question.clientID) {
        case .refused: return .rejected
        case .failed(let cause, let mayHaveArrived):
            log(cause, question)
            return .failed(mayHaveArrived: mayHaveArrived)
        case .tokens(let idToken, let refreshToken):
            let new = refreshToken == question.refreshToken ? nil : refreshToken
            guard let idToken else {
                if member.provider.recheck?.takesNoIDToken == true { return .confirmed(refreshToken: new) }
                log("the answer has no ID token", question)
                return .unproven(refreshToken: new)
            }
            do throws(ServiceError) {
                let identity = try await check(try Self.parse(idToken), of: member) {
                    (claims, now) throws(ServiceError) in try claims.check(at: now)
                }
                // Subjects are compared code point by code point, as they are when a login creates a user.
                let isSame = identity.key.subject.utf8.elementsEqual(question.subject.utf8)
                return isSame ? .confirmed(refreshToken: new) : .otherSubject
            } catch {
                log("the ID token in the answer is refused: \(error)", question)
                return .unproven(refreshToken: new)
            }
        }
    }

    private func log(_ cause: String, _ question: ProviderQuestion) {
        logger.warning(
            "an identity provider gives no usable answer about a session",
            ["provider": .string(question.provider), "cause": .string(cause)])
    }
}
