internal import HTTP
internal import Pages
internal import Sessions

extension PageApp {
    /// What pages show of the service; nil if it has no brand.
    init?(ofService branding: Branding) {
        if branding == Branding() { return nil }
        self.init("", branding)
        isService = true
    }

    /// What pages show of a client or, without a name, of the service.
    init(_ name: String, _ branding: Branding, back: PageURL? = nil) {
        func url(_ text: String?) -> PageURL? { text.flatMap { PageURL(absolute: $0) } }
        self.init(
            name: name, logo: branding.logo.map { .logo($0) }, accent: branding.accent.flatMap { AccentColor($0) },
            back: back, policy: url(branding.policyURL), terms: url(branding.termsURL),
            support: url(branding.supportURL), supportEmail: branding.supportEmail)
    }
}

extension Endpoints {
    /// `GET /assets/logo/{name}`: a logo that a client or the service has now, by its digest.
    func showLogo(_ call: Call) async throws -> Response {
        guard let logo = try await services.administration.logo(named: call.parameter) else {
            throw ServiceError.notFound("file")
        }
        return Response(
            status: .ok,
            fields: [
                "Content-Type": logo.type, "Cache-Control": "public, max-age=31536000, immutable",
                "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            ], body: logo.bytes)
    }
}

extension Route {
    static let showLogo = Route(
        .get, "/assets/logo/{name}", on: .both, cors: .noOrigin, .open { try await $0.showLogo($1) },
        Operation(
            "show_logo", .loginPage, "A logo",
            "The picture of a client or of the service, which never changes under its name, the digest.",
            answers: [.inline(200, "Logo")], errors: [.notFound]))
}
