// Stands in for `AuthenticationServices`, so that the compiler checks the presenter of the login page here. It declares what that
// code uses, and does nothing.
@_exported import Foundation

@MainActor public class ASPresentationAnchor { public init() {} }

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable {
        case canceledLogin = 1, presentationContextNotProvided = 2, presentationContextInvalid = 3
    }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

@MainActor public class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = @Sendable (URL?, (any Error)?) -> Void

    @available(iOS 17.4, macOS 14.4, watchOS 10.4, tvOS 17.4, visionOS 1.1, *)
    public class Callback: NSObject {
        public class func customScheme(_ customScheme: String) -> Callback { Callback() }
        public class func https(host: String, path: String) -> Callback { Callback() }
    }

    @available(iOS 17.4, macOS 14.4, watchOS 10.4, tvOS 17.4, visionOS 1.1, *)
    public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}
    public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}
    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false
    @discardableResult public func start() -> Bool { false }
    public func cancel() {}
}
