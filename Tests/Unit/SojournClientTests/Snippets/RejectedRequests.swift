import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Sojourn {
    /// Tells that an API has answered 401 to a request that `authorize` has completed. The next call renews the token, unless
    /// another caller has renewed it since.
    func reject(_ request: URLRequest) async throws(SojournError) {
        let token = try await accessToken()
        if request.value(forHTTPHeaderField: "Authorization") == "\(token.type) \(token.value)" { reject(token) }
    }
}

/// Any client that takes a `URLRequest`: complete it, send it, and once more after a 401.
func send(
    _ request: URLRequest, by sojourn: Sojourn,
    _ perform: (URLRequest) async throws -> (Data, HTTPURLResponse)
) async throws -> (Data, HTTPURLResponse) {
    let first = try await sojourn.authorize(request)
    let (data, response) = try await perform(first)
    guard response.statusCode == 401 else { return (data, response) }
    try await sojourn.reject(first)
    return try await perform(try await sojourn.authorize(request))
}
