import Foundation
import SojournClient

#if canImport(Alamofire)
    import Alamofire
#endif
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Completes each request of an Alamofire session, and repeats it once after a 401. Requests need `.validate()`, because only
/// then a 401 is an error to Alamofire.
final class SojournInterceptor: RequestInterceptor {
    private let sojourn: Sojourn

    init(_ sojourn: Sojourn) { self.sojourn = sojourn }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        Task {
            do { completion(.success(try await sojourn.authorize(urlRequest))) } catch { completion(.failure(error)) }
        }
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.response?.statusCode == 401, request.retryCount == 0, let sent = request.request else {
            return completion(.doNotRetry)
        }
        Task {
            do {
                try await sojourn.reject(sent)
                completion(.retry)
            } catch { completion(.doNotRetryWithError(error)) }
        }
    }
}
