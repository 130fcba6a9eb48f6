public import Foundation

/// Shows the server's login page in a browser of the system.
///
/// An implementation keeps no answer of an earlier login, and opens no view of the app's own, in which the app could read the
/// password (RFC 8252 §8.12). `WebLoginPresenter` is the one for Apple platforms.
public protocol LoginPresenter: Sendable {
    /// Opens `url`, and returns the URL with which the browser comes back: `redirectURI` with further parameters, or another one
    /// of the same scheme. What it says is checked by the caller.
    func present(_ url: URL, redirectURI: URL) async throws(LoginPresentationError) -> URL
}

/// Why the login page brought no answer.
public enum LoginPresentationError: Error, Hashable, Sendable {
    /// The user closed the page.
    case cancelled
    /// The page could not be shown; the text is for developers.
    case failed(String)
}

/// What an app asks of the server's login page (OpenID Connect Core §3.1.2.1).
public struct LoginPage: Hashable, Sendable {
    /// Where the browser returns to: a redirect URI that the client has registered.
    public var redirectURI: URL
    /// For example `login`: the user logs in even if the browser has a session.
    public var prompt: String?
    /// The name with which the form is filled in.
    public var loginHint: String?
    /// The languages of the page, the preferred one first (BCP 47).
    public var uiLocales: [String] = []
    /// The ways of login to ask for, the preferred one first.
    public var acrValues: [String] = []

    /// A page that returns to `redirectURI`.
    public init(redirectURI: URL, prompt: String? = nil, loginHint: String? = nil) {
        (self.redirectURI, self.prompt, self.loginHint) = (redirectURI, prompt, loginHint)
    }
}
