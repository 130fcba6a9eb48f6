internal import HTTP
internal import Pages
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/settings/branding`: what pages and mails show of the service.
    func showBranding(_ call: Call) async throws -> Response {
        try .json(BrandingAnswer(try await services.administration.settings().branding))
    }

    /// `PUT /admin/v1/settings/branding`: changes it. Absent members keep their value, and null removes one.
    func changeBranding(_ call: Call) async throws -> Response {
        let change = try BrandingMembers(Members(call, known: BrandingMembers.names))
        return try .json(
            BrandingAnswer(
                try await services.administration.changeBranding(by: call.origin) { change.apply(to: &$0) }))
    }

    /// `PUT /admin/v1/logo`: sets the logo of the service to the bytes of the body.
    func setLogo(_ call: Call) async throws -> Response {
        try .json(BrandingAnswer(try await services.administration.setLogo(try call.logo(), by: call.origin)))
    }

    /// `DELETE /admin/v1/logo`: removes the logo of the service.
    func removeLogo(_ call: Call) async throws -> Response {
        _ = try await services.administration.setLogo(nil, by: call.origin)
        return .noContent
    }

    /// `PUT /admin/v1/clients/{client_id}/logo`: sets the logo of a client to the bytes of the body.
    func setClientLogo(_ call: Call) async throws -> Response {
        let logo = try call.logo()
        return try .json(
            ClientAnswer(try await services.administration.setLogo(logo, of: call.parameter, by: call.origin)))
    }

    /// `DELETE /admin/v1/clients/{client_id}/logo`: removes the logo of a client.
    func removeClientLogo(_ call: Call) async throws -> Response {
        _ = try await services.administration.setLogo(nil, of: call.parameter, by: call.origin)
        return .noContent
    }
}

extension Call {
    /// The picture that is the body. Its bytes decide what it is, whatever its media type.
    fileprivate func logo() throws -> Logo {
        do throws(LogoProblem) { return try Logo(checking: request.body) } catch {
            throw RequestProblem.invalid("logo", error.description)
        }
    }
}

/// The members of a branding in a body that changes a client or the service.
struct BrandingMembers: Sendable {
    static let names = ["accent", "policy_uri", "tos_uri", "support_uri", "support_email"]

    private let accent: String??
    private let policyURL: String??
    private let termsURL: String??
    private let supportURL: String??
    private let supportEmail: String??

    init(_ members: Members) throws {
        accent = try members.change("accent", members.string)
        policyURL = try members.change("policy_uri", members.string)
        termsURL = try members.change("tos_uri", members.string)
        supportURL = try members.change("support_uri", members.string)
        supportEmail = try members.change("support_email", members.string)
    }

    /// Sets the members that the body names; the domain validates them.
    func apply(to branding: inout Branding) {
        if let accent { branding.accent = accent }
        if let policyURL { branding.policyURL = policyURL }
        if let termsURL { branding.termsURL = termsURL }
        if let supportURL { branding.supportURL = supportURL }
        if let supportEmail { branding.supportEmail = supportEmail }
    }
}

/// A branding as JSON.
struct BrandingAnswer: Encodable {
    let accent: String?
    /// The path of the picture on this server.
    let logo: String?
    let policyURI: String?
    let tosURI: String?
    let supportURI: String?
    let supportEmail: String?

    init(_ branding: Branding) {
        accent = branding.accent
        logo = branding.logo.map { PagePath.logo($0).text }
        policyURI = branding.policyURL
        tosURI = branding.termsURL
        supportURI = branding.supportURL
        supportEmail = branding.supportEmail
    }

    enum CodingKeys: String, CodingKey {
        case accent, logo
        case policyURI = "policy_uri"
        case tosURI = "tos_uri"
        case supportURI = "support_uri"
        case supportEmail = "support_email"
    }
}

extension Route {
    static let showBranding = Route(
        .get, "/admin/v1/settings/branding", on: .admin, .admin(.read) { try await $0.showBranding($1) },
        Operation(
            "show_branding", .settings, "Show the branding",
            "What pages and mails show of the service. A client's own members go first.",
            answers: [.json("Branding", "The branding.")]))

    static let changeBranding = Route(
        .put, "/admin/v1/settings/branding", on: .admin, .admin(.owner) { try await $0.changeBranding($1) },
        Operation(
            "change_branding", .settings, "Change the branding",
            "Absent members keep their value; null removes one.",
            takes: .json("BrandingChange"), answers: [.json("Branding", "The changed branding.")]))

    static let setLogo = Route(
        .put, "/admin/v1/logo", on: .admin, .admin(.owner) { try await $0.setLogo($1) },
        Operation(
            "set_logo", .settings, "Set the logo of the service",
            "The body is the picture: PNG or WebP, not animated, 16 to 1024 pixels wide and high, at most 64 KiB.",
            takes: .picture, answers: [.json("Branding", "The changed branding.")]))

    static let removeLogo = Route(
        .delete, "/admin/v1/logo", on: .admin, .admin(.owner) { try await $0.removeLogo($1) },
        Operation(
            "remove_logo", .settings, "Remove the logo of the service", answers: [.empty("It is removed.")]))

    static let setClientLogo = Route(
        .put, "/admin/v1/clients/{client_id}/logo", on: .admin, .admin(.owner) { try await $0.setClientLogo($1) },
        Operation(
            "set_client_logo", .clients, "Set the logo of a client",
            "The body is the picture: PNG or WebP, not animated, 16 to 1024 pixels wide and high, at most 64 KiB.",
            takes: .picture, answers: [.json("Client", "The changed client.")]))

    static let removeClientLogo = Route(
        .delete, "/admin/v1/clients/{client_id}/logo", on: .admin,
        .admin(.owner) { try await $0.removeClientLogo($1) },
        Operation(
            "remove_client_logo", .clients, "Remove the logo of a client",
            "Pages then show that of the service.", answers: [.empty("It is removed.")]))
}
