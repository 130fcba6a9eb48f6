internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/me`: answers the profile of the user, as far as the scope of the token discloses it.
    func profile(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        Response(.ok, "application/json", TokenResponse.User(session.user, in: session.scope).json)
    }

    /// `PATCH /v1/me`: changes the members that the body names; null clears a member. The configuration says which ones users may
    /// change. A new username, e-mail address or telephone number demands a proof of presence, as a weaker authentication mode does.
    func changeProfile(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["username"] + ProfileChange.names + Members.evidenceNames)
        let username = try members.string("username")
        let (change, evidence) = (try ProfileChange(members), try evidence(members))
        let user = try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
            try await services.accounts.changeProfile(
                in: session, shownBy: evidence, username: username, from: call.origin
            ) { change.apply(to: &$0) }
        }
        return Response(.ok, "application/json", TokenResponse.User(user, in: session.scope).json)
    }
}

/// The members of a profile in a body that creates or changes a user.
struct ProfileChange: Sendable {
    static let names = ["email", "phone_number", "display_name", "given_name", "family_name", "country"]

    private let email: String??
    private let phoneNumber: String??
    private let displayName: String??
    private let givenName: String??
    private let familyName: String??
    private let country: String??
    /// Only admins can set this member, because the calls of users do not list it as known.
    private let isEmailVerified: Bool?

    init(_ members: Members) throws {
        email = try members.change("email", members.string)
        phoneNumber = try members.change("phone_number", members.string)
        displayName = try members.change("display_name", members.string)
        givenName = try members.change("given_name", members.string)
        familyName = try members.change("family_name", members.string)
        country = try members.change("country", members.string)
        isEmailVerified = try members.bool("email_verified")
    }

    /// Sets the members that the body names; the domain validates them. Returns an error if `email_verified` is true and the
    /// address cannot be a verified one.
    func apply(to profile: inout User.Profile) -> ServiceError? {
        if let email { profile.email = email }
        if let phoneNumber { profile.phoneNumber = phoneNumber }
        if let displayName { profile.displayName = displayName }
        if let givenName { profile.givenName = givenName }
        if let familyName { profile.familyName = familyName }
        if let country { profile.country = country }
        guard let isEmailVerified else { return nil }
        profile.isEmailVerified = isEmailVerified
        return isEmailVerified == profile.isEmailVerified
            ? nil
            : .invalid(member: "email_verified", detail: "needs an e-mail address, of ASCII characters")
    }
}

extension Route {
    static let profile = Route(
        .get, "/v1/me", .user(.presence) { try await $0.profile($1, $2) },
        Operation(
            "my_profile", .me, "Show my profile",
            """
            With the scope `account` the whole profile. Without it `user_id` and what userinfo gives for the \
            scope of the token.
            """,
            answers: [.json("User", "The user.")]))

    static let changeProfile = Route(
        .patch, "/v1/me", onProbation: false, .user { try await $0.changeProfile($1, $2) },
        Operation(
            "change_my_profile", .me, "Change my profile",
            """
            Absent members keep their value, null removes it. `accounts.editable` of the configuration names the \
            members that users may change. A new username, e-mail address or telephone number needs a user that \
            authenticated at most five minutes ago, or a proof in the request. Where the server sends mails, the \
            e-mail address changes by its proof alone: 409 `email_needs_proof`.
            """,
            takes: .json("ProfileChange"), answers: [.json("User", "The changed user.")],
            errors: [.wrongPasswordOrToken, .profileConflict, .tooManyRequests]))
}
