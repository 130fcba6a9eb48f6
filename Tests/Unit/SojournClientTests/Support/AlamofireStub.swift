import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The part of Alamofire 5 that the recipe of the manual uses, with the signatures of its `RequestInterceptor.swift`.

protocol RequestAdapter: Sendable {
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

protocol RequestRetrier: Sendable {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

enum RetryResult: Sendable {
    case retry
    case retryWithDelay(TimeInterval)
    case doNotRetry
    case doNotRetryWithError(any Error)
}

/// A request that was sent.
final class Request: Sendable {
    let request: URLRequest?
    let response: HTTPURLResponse?
    let retryCount: Int

    init(_ request: URLRequest?, response: HTTPURLResponse?, retryCount: Int) {
        (self.request, self.response, self.retryCount) = (request, response, retryCount)
    }
}

final class Session: Sendable {}
