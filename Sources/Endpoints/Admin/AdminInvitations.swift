internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /admin/v1/invitations` `{client_id, username | user, source, expires_in, announce_info, session_info}` and the members
    /// of a profile: invites a user to make an account on a phone, or to add a phone to an account.
    func invite(_ call: Call) async throws -> Response {
        let members = try Members(
            call,
            known: ProfileChange.names + [
                "client_id", "username", "user", "email_verified", "source", "expires_in", "announce_info",
                "session_info",
            ])
        var request = PhoneLoginService.InvitationRequest(
            clientID: try members.identifier("client_id") ?? Client.mobileID)
        if let problem = try ProfileChange(members).apply(to: &request.profile) { throw problem }
        request.username = try members.string("username")
        if let text = try members.string("user") {
            guard let user = UserReference(text) else {
                throw members.refused("user", "must be the id of a user, or username:NAME")
            }
            guard request.username == nil, request.profile == User.Profile() else {
                throw members.refused("user", "must stand without username and profile: the account has its own")
            }
            request.user = user
        }
        request.source = try members.word("source", as: Invitation.Source.self) ?? .qr
        if let lifetime = try members.seconds("expires_in") {
            guard Invitation.lifetimes.contains(lifetime) else {
                let (least, most) = (Invitation.lifetimes.lowerBound, Invitation.lifetimes.upperBound)
                throw members.refused("expires_in", "must be from \(least.wholeSeconds) to \(most.wholeSeconds)")
            }
            request.lifetime = lifetime
        }
        request.announceInfo = try members.info("announce_info")
        request.sessionInfo = try members.info("session_info")
        let login = try await services.phoneLogins.invite(request, from: call.origin)
        var response = try Response.json(InvitationAnswer(login, services.phoneLogins), .created)
        response.fields.append("Location", "/admin/v1/logins/\(login.id)")
        return response
    }
}

/// An invitation, with the codes that lead to it.
private struct InvitationAnswer: Encodable {
    let loginID: String
    let clientID: String
    let userID: String?
    let qr: String
    let link: String
    let push: String?
    let expiresAt: Int64

    init(_ login: PhoneLogin, _ service: PhoneLoginService) {
        let invitation = login.request.invitation
        loginID = login.id.description
        clientID = login.clientID
        userID = invitation?.isNew == false ? invitation?.userID.description : nil
        qr = service.invitationLink(of: login, .picture)
        link = service.invitationLink(of: login, .link)
        push = invitation?.source == .push ? service.invitationLink(of: login, .push) : nil
        expiresAt = login.inputUntil.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case loginID = "login_id"
        case clientID = "client_id"
        case userID = "user_id"
        case qr, link, push
        case expiresAt = "expires_at"
    }
}

extension Route {
    static let invite = Route(
        .post, "/admin/v1/invitations", on: .admin, .admin(.users) { try await $0.invite($1) },
        Operation(
            "invite", .sessions, "Invite a user to a phone",
            """
            The phone makes an account, or adds itself to that of `user`. An invitation works once.
            """,
            takes: .json("NewInvitation"), answers: [.created("Invitation", "The invitation.")],
            errors: [.notFound, .usernameTaken, .tooManyRequests]))
}
