import Glibc

/// `sojourn-bench churn`.
struct ChurnBenchmark {
    let options: Options

    /// How a connection continues and ends.
    private enum Course: CaseIterable {
        /// The server answers, then the client closes.
        case closedByClient
        /// The server answers with `Connection: close` and closes.
        case closedByServer
        /// The server answers, then the client resets.
        case reset
        /// The client sends half a head, then resets.
        case halfHead
        /// The client sends half of some content, then closes.
        case halfContent
        /// The client sends nothing.
        case silent
        /// The client does not read the response.
        case unread
        /// The client sends something that is not a request.
        case refused
    }

    /// The connections before the first count, so that everything that the server allocates once is there already.
    private static let warmUp = 20_000

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let server = try ServerProcess(ServerProcess.Launch(program: options.sojournPath(), folder: folder.path))
        try churn(Self.warmUp, server)
        let descriptors = try settledDescriptors(server, atMost: 0)
        let memory = try server.proportionalMemory()
        let start = monotonicNanoseconds()
        for tenth in 1...10 {
            try churn(options.total / 10, server)
            SojournBench.progress(
                "\(tenth * options.total / 10) connections, \(Int(server.mebibytes("VmRSS"))) MiB resident")
        }
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        let left = try settledDescriptors(server, atMost: descriptors) - descriptors
        let growth = try server.proportionalMemory() - memory
        var report = Report("churn")
        report.figures = [
            Figure("connections, each opened, used and ended", "per second", [Double(options.total) / seconds]),
            Figure("descriptors left behind after \(options.total)", "descriptors", [Double(left)]),
            Figure("memory before", "MiB", [memory / 1_048_576]),
            Figure("memory that came on top", "MiB", [growth / 1_048_576]),
        ]
        try server.stop()
        guard left <= 0 else { throw Failure("\(left) descriptors were left behind\n\(report.text())") }
        return report
    }

    private func churn(_ count: Int, _ server: ServerProcess) throws {
        let courses = Course.allCases
        for number in 0..<count {
            let source = LoopbackAddress.source(0, 1, UInt8(number % 250))
            let address = LoopbackAddress(port: server.publicPort, source: source)
            let descriptor = try address.connect()
            defer { close(descriptor) }
            try follow(courses[number % courses.count], descriptor)
        }
    }

    private func follow(_ course: Course, _ descriptor: Int32) throws {
        func say(_ text: String) throws {
            let bytes = Array(text.utf8)
            guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw Failure.system("send")
            }
        }
        let request = "GET /healthz HTTP/1.1\r\nHost: a\r\n"
        switch course {
        case .closedByClient:
            try say(request + "\r\n")
            try expect("HTTP/1.1 200", descriptor)
        case .closedByServer:
            try say(request + "Connection: close\r\n\r\n")
            try expect("HTTP/1.1 200", descriptor, untilEnd: true)
        case .reset:
            try say(request + "\r\n")
            try expect("HTTP/1.1 200", descriptor)
            LoopbackAddress.resetOnClose(descriptor)
        case .halfHead:
            try say(request)
            LoopbackAddress.resetOnClose(descriptor)
        case .halfContent: try say("POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\nhalf")
        case .silent: break
        case .unread: try say(request + "\r\n")
        case .refused:
            try say("BAD\r\n\r\n")
            try expect("HTTP/1.1 400", descriptor, untilEnd: true)
        }
    }

    private func expect(_ start: String, _ descriptor: Int32, untilEnd: Bool = false) throws {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0, buffer.starts(with: start.utf8) else {
            throw Failure("not the right answer: \(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))")
        }
        while untilEnd {
            if recv(descriptor, &buffer, buffer.count, 0) <= 0 { return }
        }
    }

    /// Returns the number of descriptors that the server has open, after it has noticed the last ends.
    private func settledDescriptors(_ server: ServerProcess, atMost: Int) throws -> Int {
        var count = try server.openDescriptors()
        // Longer than the server's linger time after the last response of a connection.
        for _ in 0..<50 where count > atMost {
            usleep(100_000)
            count = try server.openDescriptors()
        }
        return count
    }
}
