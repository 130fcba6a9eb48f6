internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    /// The request of `message`, which the system ends after `limit` at the latest.
    init(_ message: HTTPMessage, within limit: Duration) {
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
        self.init(
            url: message.url, cachePolicy: .reloadIgnoringLocalAndRemoteCacheData,
            timeoutInterval: max(seconds, 1))
        httpMethod = message.method
        httpShouldHandleCookies = false
        for field in message.fields { addValue(field.value, forHTTPHeaderField: field.name) }
        if !message.body.isEmpty { httpBody = Data(message.body) }
    }
}

extension HTTPAnswer {
    /// The answer of `response` with that content.
    init(_ response: HTTPURLResponse, body: [UInt8]) {
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { HTTPMessageField($0, "\(value)") }
        }
        self.init(status: response.statusCode, fields: fields.sorted { $0.name < $1.name }, body: body)
    }
}
