#if canImport(AuthenticationServices)
    internal import AuthenticationServices
    public import Foundation

    /// Shows the login page by `ASWebAuthenticationSession`, on the main thread. The redirect URI has a scheme of the app's own.
    ///
    /// The browser is a private one by default: it shares no cookies, and the system shows no alert before it opens.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public final class WebLoginPresenter: NSObject, LoginPresenter {
        private let isPrivate: Bool

        /// A presenter. `sharesCookies` is for clients with `browser_session`, whose browser remembers the login.
        public init(sharesCookies: Bool = false) { isPrivate = !sharesCookies }

        /// Opens the page, and closes it when the caller's task is cancelled.
        public func present(_ url: URL, redirectURI: URL) async throws(LoginPresentationError) -> URL {
            let browser = Browser()
            let result = await withTaskCancellationHandler {
                await browser.run(url, scheme: redirectURI.scheme, isPrivate: isPrivate)
            } onCancel: {
                Task { @MainActor in browser.cancel() }
            }
            return try result.get()
        }
    }

    /// One page, which keeps itself until it ends.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    @MainActor private final class Browser: NSObject, ASWebAuthenticationPresentationContextProviding {
        typealias Outcome = Result<URL, LoginPresentationError>

        private var session: ASWebAuthenticationSession?
        private var isCancelled = false

        nonisolated override init() { super.init() }

        func run(_ url: URL, scheme: String?, isPrivate: Bool) async -> Outcome {
            guard !isCancelled, !Task.isCancelled else { return .failure(.cancelled) }
            let outcome: Outcome = await withCheckedContinuation { continuation in
                let session = ASWebAuthenticationSession(url: url, callbackURLScheme: scheme) { callback, error in
                    continuation.resume(returning: Self.outcome(callback, error))
                }
                session.prefersEphemeralWebBrowserSession = isPrivate
                session.presentationContextProvider = self
                self.session = session
                // If it cannot start, the system calls the handler with the reason.
                session.start()
            }
            session = nil
            return outcome
        }

        func cancel() {
            isCancelled = true
            session?.cancel()
        }

        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
            ASPresentationAnchor()
        }

        private nonisolated static func outcome(_ callback: URL?, _ error: (any Error)?) -> Outcome {
            if let callback { return .success(callback) }
            let code = (error as NSError?)?.code
            return code == ASWebAuthenticationSessionError.Code.canceledLogin.rawValue
                ? .failure(.cancelled)
                : .failure(.failed("ASWebAuthenticationSession \(code ?? 0)"))
        }
    }
#endif
