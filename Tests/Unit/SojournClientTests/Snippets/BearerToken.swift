import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request with the access token, for a client that `data(for:)` and `authorize` do not fit.
func request(to url: URL, of sojourn: Sojourn) async throws -> URLRequest {
    let token = try await sojourn.accessToken()
    var request = URLRequest(url: url)
    request.setValue("\(token.type) \(token.value)", forHTTPHeaderField: "Authorization")
    return request
}
