#if canImport(AuthenticationServices)
    public import AuthenticationServices
    public import Foundation

    /// Shows the login page by `ASWebAuthenticationSession`, on the main thread.
    ///
    /// The redirect URI has a scheme of the app's own, or it is `https` on a host that the app is associated with
    /// (`webcredentials` of its entitlement), which needs iOS 17.4, macOS 14.4 or visionOS 1.1.
    ///
    /// The browser is a private one by default: it shares no cookies, and the system shows no alert before it opens.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public final class WebLoginPresenter: NSObject, LoginPresenter {
        /// Returns the window over which the page opens.
        public typealias Window = @MainActor @Sendable () -> ASPresentationAnchor

        private let isPrivate: Bool
        private let window: Window

        /// A presenter.
        ///
        /// - Parameters:
        ///   - sharesCookies: for clients with `browser_session`, whose browser remembers the login.
        ///   - window: the window over which the page opens: in an app with several scenes that of the scene of the button. By
        ///     default it is a new window, which the system puts into the scene in front.
        public init(sharesCookies: Bool = false, window: @escaping Window = { ASPresentationAnchor() }) {
            isPrivate = !sharesCookies
            self.window = window
        }

        /// Opens the page, and closes it when the caller's task is cancelled.
        public func present(_ url: URL, redirectURI: URL) async throws(LoginPresentationError) -> URL {
            let browser = Browser(window)
            let result = await withTaskCancellationHandler {
                await browser.run(url, redirectURI, isPrivate: isPrivate)
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

        private let window: WebLoginPresenter.Window
        private var session: ASWebAuthenticationSession?
        private var isCancelled = false

        nonisolated init(_ window: @escaping WebLoginPresenter.Window) {
            self.window = window
            super.init()
        }

        func run(_ url: URL, _ redirectURI: URL, isPrivate: Bool) async -> Outcome {
            guard !isCancelled, !Task.isCancelled else { return .failure(.cancelled) }
            let outcome: Outcome = await withCheckedContinuation { continuation in
                let made = Self.session(url, redirectURI) { callback, error in
                    continuation.resume(returning: Self.outcome(callback, error))
                }
                guard let session = made else {
                    let reason = "an https redirect URI needs iOS 17.4, macOS 14.4 or visionOS 1.1, and a host"
                    return continuation.resume(returning: .failure(.failed(reason)))
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

        /// A session that ends with `redirectURI`; nil if this system cannot wait for it.
        private static func session(
            _ url: URL, _ redirectURI: URL, _ handler: @escaping ASWebAuthenticationSession.CompletionHandler
        ) -> ASWebAuthenticationSession? {
            guard redirectURI.scheme == "https" else {
                return ASWebAuthenticationSession(
                    url: url, callbackURLScheme: redirectURI.scheme, completionHandler: handler)
            }
            guard #available(iOS 17.4, macOS 14.4, visionOS 1.1, *), let host = redirectURI.host else { return nil }
            let path = redirectURI.path.isEmpty ? "/" : redirectURI.path
            return ASWebAuthenticationSession(
                url: url, callback: .https(host: host, path: path), completionHandler: handler)
        }

        func cancel() {
            isCancelled = true
            session?.cancel()
        }

        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
            window()
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
