import Dispatch
import FoundationEssentials
import Glibc
import Locks

/// `sojourn-bench logins`.
struct LoginsBenchmark {
    let options: Options
    private static let password = "correct horse battery staple"

    /// The members of the answers that are read.
    private struct Members: Decodable {
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
        var latencies: [Double] = []
        let end = monotonicNanoseconds() + Int64(options.seconds * 1e9)
        while monotonicNanoseconds() < end {
            latencies.append(
                try logOutOnce(calls, secret, phone: one.publicPort, desktop: other.publicPort, latencies.count))
        }
        try one.stop()
        if other !== one { try other.stop() }
        latencies.sort()
        var report = Report("logins")
        let nodes = other === one ? "one node" : "two nodes"
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
    private func logOutOnce(
        _ calls: AdminCalls, _ secret: String, phone: UInt16, desktop: UInt16, _ round: Int
    ) throws -> Double {
        let access = try calls.mintAccessToken(device: round)
        func onDesktop(_ path: String, _ form: String) throws -> Members {
            let call = PlainCall(
                port: desktop, method: "POST", path: path, contentType: "application/x-www-form-urlencoded",
                body: "client_id=bench-tv&client_secret=\(secret)" + form)
            return try call.decode(Members.self)
        }
        func onPhone(_ path: String, _ json: String) throws {
            _ = try PlainCall(port: phone, method: "POST", path: path, token: access, body: json).send()
        }
        let opened = try onDesktop("/oauth/device_authorization", "")
        let (id, code) = (try opened.required(\.login_id), try opened.required(\.device_code))
        @Sendable func look(_ query: String = "") throws -> Members {
            try PlainCall(port: desktop, method: "GET", path: "/v1/logins/\(id)\(query)", token: code).decode(
                Members.self)
        }
        try onPhone("/v1/me/logins", #"{"code": "\#(try opened.required(\.qr))", "source": "qr"}"#)
        try onPhone("/v1/me/logins/\(id)/confirm", #"{"number": \#(try look().required(\.number))}"#)
        try onPhone("/v1/me/logins/\(id)/second-factor", #"{"password": "\#(Self.password)"}"#)
        _ = try onDesktop(
            "/oauth/token",
            "&grant_type=urn:ietf:params:oauth:grant-type:device_code&device_id=tv&device_code=\(code)")
        let version = try look().required(\.version)
        let arrived = Locked<Result<Int64, any Error>?>(nil)
        DispatchQueue(label: "desktop").async {
            let result = Result { () throws -> Int64 in
                let seen = try look("?wait=30&version=\(version)")
                guard seen.event == "logged_out" else { throw Failure("the desktop saw \(seen.event ?? "nothing")") }
                return monotonicNanoseconds()
            }
            arrived.withLock { $0 = result }
        }
        // The desktop waits before the phone logs out, at a moment that has nothing to do with its looks.
        usleep(UInt32.random(in: 20_000...700_000))
        try onPhone("/v1/logout", "")
        let acknowledged = monotonicNanoseconds()
        while arrived.withLock({ $0 == nil }) { usleep(200) }
        let at = try arrived.withLock { try $0?.get() ?? 0 }
        return max(0, Double(at - acknowledged) / 1e6)
    }
}
