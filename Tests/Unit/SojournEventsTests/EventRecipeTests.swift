import SojournClient
import SojournEvents
import SojournTestKit
import Testing

/// The recipes of the manual's page "Coming from KOBIL or Kii".
struct EventRecipeTests {
    private struct Screens: LoginScreens {
        let steps = AsyncStream<LoginFollowUp>.makeStream()
        func show(_ step: LoginFollowUp) async { steps.continuation.yield(step) }
    }

    @Test func stepsAreShown_inOrder() async throws {
        let app = try await App.signedIn(.no)
        let screens = Screens()
        offlineLogin(of: App.anna, by: app.sojourn, in: screens)
        var iterator = screens.steps.stream.makeAsyncIterator()
        #expect(await iterator.next() == .getInformation)
        #expect(await iterator.next() == .showTabBar)
    }

    @Test func loginFollowsTheRecommendation() async throws {
        let app = try await App.signedIn(.password)
        let offline = await OfflineLoginEvent(userIdentifier: App.anna).post(to: app.sojourn)
        #expect(await login(after: offline, idToken: "anna", by: app.sojourn) == .ok)
        #expect(await app.sojourn.authenticationMode == .password)
    }

    @Test func greetingNeedsNoNetwork() async throws {
        let app = try await App.signedIn(.no)
        app.server.setReachable(false)
        #expect(await greeting(by: app.sojourn) == "Hello anna")
        #expect(await greeting(by: try await App.new().sojourn) == "Please log in.")
    }
}
