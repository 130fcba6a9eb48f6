import FoundationEssentials
import Sockets

/// One request over a connection of its own, for what prepares a measurement and for what waits.
struct PlainCall {
    let port: UInt16
    let method: String
    let path: String
    var token: String?
    var contentType = "application/json"
    var body = ""

    /// The content of the answer. Throws if its status is none of success.
    func send() throws -> [UInt8] {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let request = """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            \(authorization)Content-Type: \(contentType)\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        let socket = try ClientSocket(to: .ipv4(bytes: [127, 0, 0, 1], port: port), timeout: .seconds(40))
        try socket.send(Array(request.utf8))
        var received: [UInt8] = []
        while true {
            let bytes = try socket.receive()
            received += bytes
            if let answer = try Answer(received) {
                guard (200..<300).contains(answer.status) else { throw refusal(received) }
                return Array(received[answer.body])
            }
            if bytes.isEmpty { throw refusal(received) }
        }
    }

    /// The members of the answer.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(try send()))
    }

    private func refusal(_ answer: [UInt8]) -> Failure {
        Failure("\(method) \(path) was answered with: \(String(decoding: answer, as: UTF8.self))")
    }
}
