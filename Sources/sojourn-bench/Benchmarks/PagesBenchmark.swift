/// `sojourn-bench pages`.
struct PagesBenchmark {
    let options: Options

    private static let password = "correct-horse-battery-staple"
    private static let redirectURI = "com.example.bench:/callback"

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        var launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        launch.environment.append("SOJOURN_LIMITS_EVENT_LOOPS=1")
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.makeUser(password: Self.password)
        for device in 0..<5 { _ = try calls.mintSessionID(device: device) }
        try calls.makePageClient(redirectURI: Self.redirectURI)
        var browser = PageBrowser(port: server.publicPort)
        let login = try loginPage(&browser)
        var pages = [("GET /login", browser.request(for: login))]
        try openAccount(&browser)
        pages.append(("GET /login in the browser of a session", browser.request(for: login)))
        pages += ["/account", "/account/security", "/account/activity"].map { ("GET \($0)", browser.request(for: $0)) }
        var report = Report("pages")
        for count in options.connections {
            for (name, request) in pages {
                report.figures += try measure(server, name, request, connections: count)
            }
        }
        try server.stop()
        return report
    }

    private func measure(
        _ server: ServerProcess, _ name: String, _ request: [UInt8], connections count: Int
    ) throws -> [Figure] {
        let visits = (0..<count).map { _ in PageVisit(request: request) }
        let load = try LoadGenerator(port: server.publicPort, visits)
        _ = try load.run(seconds: 0.5)
        var (perSecond, microseconds): ([Double], [Double]) = ([], [])
        for _ in 0..<options.rounds {
            let before = server.cpuSeconds
            let result = try load.run(seconds: options.seconds)
            if let error = result.firstError { throw Failure("\(name): \(error)") }
            perSecond.append(result.perSecond)
            microseconds.append((server.cpuSeconds - before) * 1e6 / Double(max(1, result.answered)))
        }
        return [
            Figure("\(name): CPU for a page", "µs", connections: count, microseconds),
            Figure(name, "per second", connections: count, perSecond),
        ]
    }

    /// The address of the login page of an authorization request, which the browser has opened once.
    private func loginPage(_ browser: inout PageBrowser) throws -> String {
        let query = """
            response_type=code&client_id=bench-pages&redirect_uri=\(Self.redirectURI)&scope=openid&state=s&nonce=n\
            &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
            """
        let answer = try browser.open("/oauth/authorize?" + query)
        guard let path = answer.location else { throw Failure("no login page: \(answer.head)\(answer.body)") }
        let page = try browser.open(path)
        guard page.status == 200 else { throw Failure("no login page: \(page.head)\(page.body)") }
        return path
    }

    /// Logs the user in for the account pages.
    private func openAccount(_ browser: inout PageBrowser) throws {
        guard let path = try browser.open("/account").location else { throw Failure("/account leads nowhere") }
        let page = try browser.open(path)
        let form = try ["csrf", "r"].map { name in
            guard let value = page.field(name, ofFormTo: "/login/password") else {
                throw Failure("the login page has no field \(name): \(page.body)")
            }
            return (name, value)
        }
        let fields = form + [("username", "bench"), ("password", Self.password)]
        let answer = try browser.submit(fields, to: "/login/password")
        guard answer.status == 303 else { throw Failure("the login failed: \(answer.head)\(answer.body)") }
    }
}
