// How the inputs are written: only what is special about each stands in its row.

extension Row {
    /// A request with this request line, and a good `Host`.
    static func line(_ line: String) -> String { "\(line)\r\nHost: a\r\n\r\n" }

    /// `GET` of a target.
    static func get(_ target: String = "/") -> String { line("GET \(target) HTTP/1.1") }

    /// `GET` with these further field lines, without the last line end.
    static func fields(_ lines: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n" }

    /// `GET` with this value of `Host`.
    static func host(_ value: String) -> String { "GET / HTTP/1.1\r\nHost: \(value)\r\n\r\n" }

    /// `POST` with these further field lines, and content as it is.
    static func post(_ lines: String, _ content: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n\(content)"
    }

    /// `POST` in the chunked coding, with a body as it is.
    static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    /// A request of HTTP/1.0 with these field lines.
    static func old(_ line: String, _ lines: String = "", _ content: String = "") -> String {
        "\(line) HTTP/1.0\r\n\(lines.isEmpty ? "" : lines + "\r\n")\r\n\(content)"
    }

    /// A text so many times.
    static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    /// One case for each of these bytes.
    static func each(
        _ bytes: some Sequence<UInt8>, _ title: String, _ verdict: Verdict, _ input: (String) -> String
    ) -> [Case] {
        bytes.map { byte in
            let hexadecimal = String(byte, radix: 16, uppercase: true)
            return ("\(title): 0x\(hexadecimal)", input(String(Unicode.Scalar(byte))), verdict)
        }
    }

    /// The controls that no line may hold: neither HTAB nor the line end.
    static let controls: [UInt8] = Array(0...8) + [11, 12] + Array(14...31) + [127]
}
