import Console
import FoundationEssentials
import Pages
import Repository
import Sessions
import Testing

@testable import Endpoints

/// The manual's table of what each surface says of the state of a login.
@Suite struct PhoneLoginTableTests {
    @Test("each state has the words of the manual's table on the wire, for the device, on the page and in the console")
    func table() throws {
        let path = "Sources/sojourn/Sojourn.docc/Apps/PhoneLogin/PhoneLogins.md"
        let manual = String(decoding: try Data(contentsOf: Repository.root.appending(path: path)), as: UTF8.self)
        let lines = manual.split(separator: "\n").map(String.init)
        let rows = lines.drop { !$0.hasPrefix("| `phase` |") }.prefix { $0.hasPrefix("|") }.dropFirst(2)

        let table = PhoneLogin.Phase.allCases.map(Self.row)

        #expect(Array(rows) == table, "\n\(table.joined(separator: "\n"))\n")
    }

    @Test("the words of the wire name one phase, with the usual history as well")
    func phases() {
        for phase in PhoneLogin.Phase.allCases {
            for state in Self.states(phase) {
                let words = PhoneLoginWords(state)
                if words.state == .error, phase == .deleted { continue }
                #expect(PhoneLoginWords.phase(words.state, words.input, words.history) == phase)
            }
        }
        #expect(PhoneLoginWords.phase(.done, nil, nil) == .aborted)
        #expect(PhoneLoginWords.phase(.active, nil, nil) == .approved)
        #expect(PhoneLoginWords.phase(.error, nil, nil) == .failed)
        #expect(PhoneLoginWords.phase(.done, nil, .fail) == nil)
    }

    private static func row(_ phase: PhoneLogin.Phase) -> String {
        let logins = logins(phase)
        let words = logins.map { PhoneLoginWords($0.state) }
        let cells = [
            cell([phase.rawValue]), cell(words.map(\.state.rawValue)), cell(words.compactMap(\.input?.rawValue)),
            cell(words.map(\.history.rawValue)), cell(logins.map { DeviceEvent($0).rawValue }),
            cell(logins.map { PhonePage.State(of: $0).rawValue }), ConsoleView.word(for: phase),
        ]
        return "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
    }

    /// The different words, in the order in which they come.
    private static func cell(_ words: [String]) -> String {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }.map { "`\($0)`" }.joined(separator: ", ")
    }

    /// Logins in that phase that a surface may tell apart: by the cause, the number, and whether a link led to the app.
    private static func logins(_ phase: PhoneLogin.Phase) -> [PhoneLogin] {
        let (start, userID) = (Instant(secondsSinceEpoch: 1), Identifier<User>(words: (1, 1)))
        let phone = Session(
            id: Identifier(words: (1, 1)), userID: userID, clientID: "mobile", device: Device(id: "phone"),
            startedAt: start, epoch: 1)
        return states(phase).flatMap { state in
            [
                (PhoneLogin.Arrival.scanned, nil, nil), (.scanned, 42, nil), (.scanned, 42, userID),
                (.linked, nil, userID),
            ]
            .map { arrival, number, account in
                var login = PhoneLogin(
                    id: Identifier(words: (2, 2)), kind: .authorize, clientID: "web", startedAt: start,
                    inputUntil: start)
                login.state = state
                if state == .requested { return login }
                login.claim = PhoneLogin.Claim(Phone(phone), arrival, PhoneLogin.Wishes())
                if state != .claimed { (login.number, login.userID) = (number, account) }
                return login
            }
        }
    }

    private static func states(_ phase: PhoneLogin.Phase) -> [PhoneLogin.State] {
        if let living = PhoneLogin.State(phase, cause: nil, endedAt: nil) { return [living] }
        let (given, lost): ([PhoneLogin.Cause?], [PhoneLogin.Cause?]) = (
            [.denied, .canceled, .timedOut, .notCollected, .parentEnded],
            [.parentEnded, .presenceLost, .ended(.loggedOut)]
        )
        let failures: [PhoneLogin.Cause?] = [.wrongNumber, .contested, .secondFactorFailed, .fault]
        let causes: [PhoneLogin.Cause?] =
            switch phase {
            case .aborted: given
            case .signedOut: lost
            case .failed: failures
            case .deleted: [nil, .ended(.userDeleted)] + given + lost + failures
            default: [nil]
            }
        return causes.compactMap { PhoneLogin.State(phase, cause: $0, endedAt: Instant(secondsSinceEpoch: 2)) }
    }
}
