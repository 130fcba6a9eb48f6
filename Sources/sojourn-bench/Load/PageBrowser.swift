import Sockets

/// A browser of the login page: it sends one request at a time, keeps the cookies and reads the fields of forms.
struct PageBrowser {
    private let port: UInt16
    private var cookies: [String: String] = [:]

    init(port: UInt16) { self.port = port }

    /// A response, as text.
    struct Page {
        let status: Int
        let head: Substring
        let body: Substring

        /// The target of a redirect of the server to itself, without scheme and host.
        var location: String? {
            PageBrowser.text(in: head, after: "\r\nLocation: http://", upTo: "\r\n").map {
                String($0.drop { $0 != "/" })
            }
        }

        /// The value of a hidden field in the form that is sent to `path`.
        func field(_ name: String, ofFormTo path: String) -> String? {
            guard let form = body.firstRange(of: "action=\"\(path)\"") else { return nil }
            return PageBrowser.text(in: body[form.upperBound...], after: "name=\"\(name)\" value=\"", upTo: "\"")
                .map(String.init)
        }
    }

    mutating func open(_ path: String) throws -> Page { try send(request(for: path)) }

    /// Sends a form. The values need no escaping.
    mutating func submit(_ form: [(String, String)], to path: String) throws -> Page {
        let body = form.map { "\($0)=\($1)" }.joined(separator: "&")
        let fields = """
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(body.utf8.count)\r
            Sec-Fetch-Site: same-origin\r

            """
        return try send(request("POST", for: path, fields) + Array(body.utf8))
    }

    /// The request that the browser sends for a page.
    func request(for path: String) -> [UInt8] { request("GET", for: path, "") }

    private func request(_ method: String, for path: String, _ fields: String) -> [UInt8] {
        let jar = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        return Array(
            """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r
            Accept: text/html\r
            Accept-Language: en-US,en;q=0.5\r
            \(jar.isEmpty ? "" : "Cookie: \(jar)\r\n")\(fields)\r

            """.utf8)
    }

    private mutating func send(_ request: [UInt8]) throws -> Page {
        let socket = try ClientSocket(to: .ipv4(bytes: [127, 0, 0, 1], port: port), timeout: .seconds(20))
        try socket.send(request)
        var received: [UInt8] = []
        while true {
            let bytes = try socket.receive()
            received += bytes
            if let answer = try Answer(received) {
                let head = String(decoding: received[..<answer.body.lowerBound], as: UTF8.self)
                let body = String(decoding: received[answer.body], as: UTF8.self)
                keepCookies(head)
                return Page(status: answer.status, head: head[...], body: body[...])
            }
            if bytes.isEmpty { throw Failure("no answer to a request for a page") }
        }
    }

    private mutating func keepCookies(_ head: String) {
        for line in head.split(separator: "\r\n") where line.hasPrefix("Set-Cookie: ") {
            let pair = line.dropFirst("Set-Cookie: ".count).prefix { $0 != ";" }
            guard let equals = pair.firstIndex(of: "=") else { continue }
            cookies[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
    }

    private static func text(in text: Substring, after start: String, upTo end: Character) -> Substring? {
        text.firstRange(of: start).map { text[$0.upperBound...].prefix { $0 != end } }
    }
}

/// Requests one page, as a browser that keeps its connection.
struct PageVisit: Conversation {
    let request: [UInt8]

    func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool { answer.status == 200 && answer.body.count > 1000 }
}
