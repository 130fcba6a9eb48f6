import Dispatch
import FoundationEssentials
import Glibc
import Locks

/// `sojourn-bench logins`.
struct LoginsBenchmark {
    let options: Options
    private static let password = "correct horse battery staple"

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        var first = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        first.url = options.postgres
        var second = first
        second.folder = folder.path + "/second"
        mkdir(second.folder, 0o700)
        let one = try ServerProcess(first)
        // The phone speaks to the first node, the desktop to the second one.
        let other = options.postgres == nil ? one : try ServerProcess(second)
        let calls = AdminCalls(one, first)
        try calls.makeUser(password: Self.password)
        let secret = try calls.makeDeviceClient()
        var report = Report("logins")
        let nodes = other === one ? "one node" : "two nodes"
        let devices = DesktopAndPhone(
            calls: calls, secret: secret, phone: one.publicPort, desktop: other.publicPort)
        if options.waiters > 0 {
            var servers = [(one, calls)]
            if other !== one { servers.append((other, AdminCalls(other, second))) }
            report.figures += try devices.measureWaiters(options, servers, nodes)
        }
        var latencies: [Double] = []
        let end = monotonicNanoseconds() + Int64(options.seconds * 1e9)
        while monotonicNanoseconds() < end {
            latencies.append(try logOutOnce(devices, latencies.count))
        }
        try one.stop()
        if other !== one { try other.stop() }
        latencies.sort()
        report.figures.append(Figure("logouts, \(nodes)", "", [Double(latencies.count)]))
        for (share, text) in [(0.5, "p50"), (0.99, "p99"), (1, "most")] {
            let index = min(latencies.count - 1, Int(Double(latencies.count) * share))
            report.figures.append(
                Figure(
                    "from the phone's acknowledged logout to the desktop, \(nodes), \(text)", "ms", [latencies[index]]))
        }
        return report
    }

    /// Lets a desktop in with a phone, and logs the phone out. Returns the milliseconds from the acknowledgement to the moment at
    /// which the desktop, which waits for news of its login, has read that it is logged out.
    private func logOutOnce(_ devices: DesktopAndPhone, _ round: Int) throws -> Double {
        let login = try devices.claim(device: round)
        try login.onPhone("/v1/me/logins/\(login.id)/confirm", #"{"number": \#(try login.look().required(\.number))}"#)
        try login.onPhone("/v1/me/logins/\(login.id)/second-factor", #"{"password": "\#(Self.password)"}"#)
        _ = try devices.onDesktop(
            "/oauth/token",
            "&grant_type=urn:ietf:params:oauth:grant-type:device_code&device_id=tv&device_code=\(login.code)")
        let version = try login.look().required(\.version)
        let arrived = Locked<Result<Int64, any Error>?>(nil)
        DispatchQueue(label: "desktop").async {
            let result = Result { () throws -> Int64 in
                let seen = try login.look("?wait=30&version=\(version)")
                guard seen.event == "logged_out" else { throw Failure("the desktop saw \(seen.event ?? "nothing")") }
                return monotonicNanoseconds()
            }
            arrived.withLock { $0 = result }
        }
        // The desktop waits before the phone logs out, at a moment that has nothing to do with its looks.
        usleep(UInt32.random(in: 20_000...700_000))
        try login.onPhone("/v1/logout", "")
        let acknowledged = monotonicNanoseconds()
        while arrived.withLock({ $0 == nil }) { usleep(200) }
        let at = try arrived.withLock { try $0?.get() ?? 0 }
        return max(0, Double(at - acknowledged) / 1e6)
    }
}

/// A desktop and a phone of one user, each at its node.
private struct DesktopAndPhone {
    let calls: AdminCalls
    let secret: String
    let phone: UInt16
    let desktop: UInt16

    /// The members of the answers that are read.
    struct Members: Decodable {
        var login_id: String?
        var device_code: String?
        var qr: String?
        var number: Int?
        var event: String?
        var version: String?
        var client_secret: String?

        func required<Value>(_ path: KeyPath<Members, Value?>) throws -> Value {
            guard let value = self[keyPath: path] else { throw Failure("an answer without a member that it must have") }
            return value
        }
    }

    /// A login that the phone has claimed.
    struct Claimed: Sendable {
        let id: String
        /// The device code.
        let code: String
        let phone: UInt16
        let desktop: UInt16
        /// The access token of the phone.
        let access: String

        /// What the desktop sees.
        func look(_ query: String = "") throws -> Members {
            try PlainCall(port: desktop, method: "GET", path: "/v1/logins/\(id)\(query)", token: code)
                .decode(Members.self)
        }

        /// What the phone sees.
        func lookOnPhone(_ query: String = "") throws -> Members {
            try PlainCall(port: phone, method: "GET", path: "/v1/me/logins/\(id)\(query)", token: access)
                .decode(Members.self)
        }

        func onPhone(_ path: String, _ json: String) throws {
            _ = try PlainCall(port: phone, method: "POST", path: path, token: access, body: json).send()
        }
    }

    func onDesktop(_ path: String, _ form: String) throws -> Members {
        let call = PlainCall(
            port: desktop, method: "POST", path: path, contentType: "application/x-www-form-urlencoded",
            body: "client_id=bench-tv&client_secret=\(secret)" + form)
        return try call.decode(Members.self)
    }

    /// Opens a login, and lets a phone with a new session claim it.
    func claim(device: Int) throws -> Claimed {
        let opened = try onDesktop("/oauth/device_authorization", "")
        let login = Claimed(
            id: try opened.required(\.login_id), code: try opened.required(\.device_code), phone: phone,
            desktop: desktop, access: try calls.mintAccessToken(device: device))
        try login.onPhone("/v1/me/logins", #"{"code": "\#(try opened.required(\.qr))", "source": "qr"}"#)
        return login
    }

    /// Lets calls of desktop and phone wait for a claimed login, and returns what they cost the nodes.
    func measureWaiters(
        _ options: Options, _ servers: [(process: ServerProcess, calls: AdminCalls)], _ nodes: String
    ) throws -> [Figure] {
        func work() throws -> (writes: Double, cpu: Double) {
            let writes = try servers.map { try $0.calls.metrics()["sojourn_store_batches_total"] ?? .nan }
            return (writes.reduce(0, +), servers.map(\.process.cpuSeconds).reduce(0, +))
        }
        let login = try claim(device: 1_000_000)
        // A claimed login ends after three minutes.
        let seconds = min(options.seconds, 150)
        let (left, failure) = (Locked(options.waiters), Locked<(any Error)?>(nil))
        let end = monotonicNanoseconds() + Int64(seconds * 1e9)
        let before = try work()
        for number in 0..<options.waiters {
            let isDesktop = number.isMultiple(of: 2)
            let look = { @Sendable (query: String) throws -> Members in
                isDesktop ? try login.look(query) : try login.lookOnPhone(query)
            }
            DispatchQueue(label: "waiter \(number)").async {
                do {
                    let version = try look("").required(\.version)
                    while monotonicNanoseconds() < end { _ = try look("?wait=5&version=\(version)") }
                } catch { failure.withLock { $0 = error } }
                left.withLock { $0 -= 1 }
            }
        }
        while left.withLock({ $0 > 0 }) { usleep(10_000) }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let passed = Double(monotonicNanoseconds() - end) / 1e9 + seconds
        let after = try work()
        return [
            Figure(
                "\(options.waiters) waiters: write transactions a second, \(nodes)", "",
                [(after.writes - before.writes) / passed]),
            Figure("\(options.waiters) waiters: share of a core, \(nodes)", "", [(after.cpu - before.cpu) / passed]),
        ]
    }
}
