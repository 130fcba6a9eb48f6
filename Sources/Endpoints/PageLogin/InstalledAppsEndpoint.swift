internal import HTTP
internal import Sessions

/// The documents by which phones know the apps of this host: for links to redirect URIs, for passkeys and for passwords.
extension Endpoints {
    static let appleAppsPath = "/.well-known/apple-app-site-association"
    static let androidAppsPath = "/.well-known/assetlinks.json"
    /// The documents that phones and password managers ask for at the root of the host, whatever the path of the issuer.
    public static let rootDocuments = [appleAppsPath, androidAppsPath, changePasswordPath]

    /// `GET /.well-known/apple-app-site-association`: answers the apps on Apple platforms (Apple, "Supporting associated
    /// domains").
    func appleApps() async throws -> Response {
        let issuer = context.issuer
        return Self.cacheable(
            try JSONAnswer.encode(AppleAppsAnswer(of: try await services.pageLogin.clients(), issuer: issuer)))
    }

    /// `GET /.well-known/assetlinks.json`: answers the apps on Android (Google, Digital Asset Links).
    func androidApps() async throws -> Response {
        Self.cacheable(try JSONAnswer.encode(AndroidAppsAnswer.all(of: try await services.pageLogin.clients())))
    }
}

private struct AppleAppsAnswer: Encodable {
    struct Links: Encodable { let details: [Detail] }
    struct Passwords: Encodable { let apps: [String] }

    /// The paths of one client, and the apps that open them.
    struct Detail: Encodable {
        let appIDs: [String]
        let components: [Component]
    }

    struct Component: Encodable {
        let path: String
        enum CodingKeys: String, CodingKey { case path = "/" }
    }

    let applinks: Links
    let webcredentials: Passwords

    init(of clients: [Client], issuer: String) {
        let logins = clients.map(\.page).filter { !$0.appleAppIDs.isEmpty }
        let details = logins.map { login in
            // A path with an asterisk would be a pattern for others.
            let paths = login.redirectURIs.compactMap { RedirectURI.path(of: $0, onHostOf: issuer) }
                .filter { !$0.contains("*") }
            return Detail(appIDs: login.appleAppIDs, components: Self.distinct(paths).map(Component.init))
        }
        applinks = Links(details: details.filter { !$0.components.isEmpty })
        webcredentials = Passwords(apps: Self.distinct(logins.flatMap(\.appleAppIDs)))
    }

    /// The texts without repetitions, in order.
    private static func distinct(_ texts: [String]) -> [String] {
        var known: Set<String> = []
        return texts.filter { known.insert($0).inserted }
    }
}

/// One statement: this host trusts the app.
private struct AndroidAppsAnswer: Encodable {
    struct Target: Encodable {
        let namespace = "android_app"
        let packageName: String
        let fingerprints: [String]

        enum CodingKeys: String, CodingKey {
            case namespace
            case packageName = "package_name"
            case fingerprints = "sha256_cert_fingerprints"
        }
    }

    let relation = ["delegate_permission/common.handle_all_urls", "delegate_permission/common.get_login_creds"]
    let target: Target

    /// One statement for each package, with all its certificates, in the order of their names.
    static func all(of clients: [Client]) -> [AndroidAppsAnswer] {
        let apps = Dictionary(grouping: Set(clients.flatMap(\.page.androidApps)), by: \.package)
        return apps.sorted { $0.key < $1.key }.map { package, apps in
            AndroidAppsAnswer(target: Target(packageName: package, fingerprints: apps.map(\.fingerprint).sorted()))
        }
    }
}

extension Route {
    static let appleApps = Route(
        .get, Endpoints.appleAppsPath, cors: .noOrigin, .open { endpoints, _ in try await endpoints.appleApps() },
        Operation(
            "apple_apps", .loginPage, "The apps on Apple platforms",
            """
            Which apps open the `https` redirect URIs on this host (`applinks`), and use its passkeys and \
            passwords (`webcredentials`). From `apple_app_ids` and `redirect_uris` of the clients.
            """,
            answers: [.cacheable("AppleApps", "The apps; empty lists without any.")]))

    static let androidApps = Route(
        .get, Endpoints.androidAppsPath, cors: .noOrigin, .open { endpoints, _ in try await endpoints.androidApps() },
        Operation(
            "android_apps", .loginPage, "The apps on Android",
            """
            Which apps open links to this host, and use its passkeys and passwords (Digital Asset Links). From \
            `android_apps` of the clients.
            """,
            answers: [.cacheable("AndroidApps", "The apps; an empty list without any.")]))
}
