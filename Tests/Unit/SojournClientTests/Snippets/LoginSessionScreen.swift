import SojournClient

/// What the user says to a login.
enum UserAnswer {
    /// With the number of the other device, if `needsNumber`.
    case yes(number: Int?)
    case no
    /// Somebody else has asked for it.
    case notMine
}

/// What the screen of a login does, in the app's own design.
protocol LoginSessionScreen: Sendable {
    func show(_ status: LoginStatus) async
    /// Shows client, place and browser, and a button to refuse that is as large as the other one.
    func ask(_ details: LoginDetails) async -> UserAnswer
    /// Shows what was wrong with the last attempt. False: the user gives up.
    func asksAgain(_ result: SecondFactorEvent) async -> Bool
}

func present(_ session: LoginSession, on screen: some LoginSessionScreen) async {
    for await event in session.events {
        switch event {
        case .state(let status): await screen.show(status)
        case .confirmLogin(let details), .confirmEnrol(let details):
            switch await screen.ask(details) {
            case .yes(let number): try? await session.confirm(number: number)
            case .no: try? await session.stopSession()
            case .notMine: try? await session.stopSession(isReport: true)
            }
        case .secondFactor(let event) where event.expectsInput:
            if event.result == .requested {
                try? await session.enterSecondFactor(reason: "Log in on the other device.")
            } else if await screen.asksAgain(event) {
                try? await session.enterSecondFactor(reason: "Log in on the other device.")
            } else {
                try? await session.inputCancel()
            }
        case .secondFactor: break
        }
    }
}
