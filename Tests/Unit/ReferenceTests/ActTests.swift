import FoundationEssentials
import HTTP
import JSON
import Repository
import Sessions
import Testing

@testable import AdminActs
@testable import Endpoints
@testable import sojourn

/// What admins can do: each act has a route, and a command that makes its call.
@Suite("Acts of admins") struct ActTests {
    private static let id = "0123456789abcdef0123456789abcdef"

    /// Acts of each type, with all that they can say.
    private static let samples: [any AdminAct] = {
        let (user, named, odd) = (ActSubject(id), ActSubject(userNamed: "ada"), ActSubject("-x'y"))
        let members: [String: JSONValue] = [
            "display_name": .string("Ada \"L\" $(id)"), "email": .null, "email_verified": .bool(true),
            "offline_session_max": .integer(7200), "claims": .object(["role": .string("a b")]),
        ]
        let client: [String: JSONValue] = [
            "client_name": .string("-N"), "resources": .array([.string("https://a.b")]),
        ]
        var (disabling, wide) = (DisableUser(named), DisableUser(user))
        (wide.effective, wide.endsSessions, wide.note) = (.onExpiry, true, "it's lost")
        disabling.note = "--help"
        var mailed = MakeResetLink(user)
        mailed.isSent = true
        var (key, enabling, pause) = (
            CreateAdminKey("-k"), EnableUser(user), SetStreamStatus(of: odd, to: .paused)
        )
        (key.keyScope, key.lifetime, enabling.includesOwnSwitch, pause.reason) = (
            .support, 86_400, true, "until 'six'"
        )
        var requirement = RequireSecondFactor(nil, of: named)
        requirement.keepsSessions = true
        return [
            CreateUser("-u", members.filter { $0.value != .null }), EditUser(user, members),
            EditUser(named, ["username": .string("eve")]), disabling, wide, EnableUser(named), enabling,
            UnlockUser(user), EndUserSessions(named), MakeResetLink(user), mailed,
            RemovePasskey("-_abc", of: user), RemoveSecondFactor("0f8fad5b", of: user),
            RemoveSecondFactor(nil, of: named), RequireSecondFactor(.exempt, of: user), requirement,
            SetSecondFactorPolicy(.requiredAtLogin),
            DeleteUser(user), EndSession(user), RemovePIN(user), PhoneLoginEnding(user),
            CreateClient(odd, client),
            EditClient(odd, client.merging(["refresh_after": .null]) { $1 }), RotateClientSecret(odd),
            RotateClientSecret(odd, overlap: 604_800), DeleteClient(odd), CreateAdminKey("k"), key,
            DeleteAdminKey(odd),
            RotateSigningKey(immediately: false), RotateSigningKey(immediately: true),
            WithdrawSigningKey(odd),
            RetryDeliveries(), RetryMail(odd), TestWebhook(odd), SetStreamStatus(of: odd, to: .enabled), pause,
            VerifyStream(odd),
            DeleteStream(odd),
            ChangeSettings([
                "offline_session_idle": .integer(90), "refresh_after": .integer(60),
                "offline_session_max_limited": .bool(false),
            ]),
            ChangeBranding(["accent": .string("#0a5fd1"), "tos_uri": .null]), SetLogo(nil, of: odd),
            SetServiceLogo(nil),
        ]
    }()

    @Test("the list has every act once, and each has a file of its own") func theListIsWhole() throws {
        let types = Acts.all.map { ObjectIdentifier($0) }
        #expect(Set(types).count == types.count)
        #expect(Set(Self.samples.map { ObjectIdentifier(type(of: $0)) }) == Set(types))
        let folder = Repository.path("Sources/AdminActs")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(".swift")
        }
        let named = try files.flatMap { file in
            try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                .matches(of: #/struct (\w+): AdminAct\b/#).map { (String($0.1), file) }
        }
        #expect(Set(named.map(\.0)) == Set(Acts.all.map { "\($0)" }))
        for (name, file) in named { #expect(file.hasSuffix("\(name).swift"), "\(file)") }
    }

    @Test("the call of an act has a route, which demands the scope of the act") func callsHaveRoutes()
        throws
    {
        let table = RouteTable(Route.all, on: .admin)
        for act in Self.samples {
            let (call, scope) = (act.call, type(of: act).scope)
            guard case .route(let route, _) = table.find(Request(call.method, call.target)),
                case .admin(let demanded, _, _) = route.handler
            else {
                Issue.record("\(call)")
                continue
            }
            #expect(demanded == scope, "\(type(of: act))")
        }
    }

    @Test("the words of an act are a command that makes its call") func wordsMakeTheCall() throws {
        for act in Self.samples {
            let words = try #require(act.words, "\(act)")
            #expect(try ShellText(#require(act.line)).commands == [["sojourn"] + words])
            guard
                case .run(let command, let arguments) = try Arguments.parse(words, commands: Commands.all)
            else {
                Issue.record("\(words)")
                continue
            }
            // This command sends its message itself, whether a server runs or not.
            if act is TestWebhook { continue }
            #expect(try command.act?(arguments).call == act.call, "\(words)")
        }
    }

    @Test("a user has a name in a command where it is taken for nothing else, and an id elsewhere")
    func usersAreNamed() {
        func user(_ name: String) -> User {
            User(
                id: Identifier(Self.id)!, username: name, profile: .init(),
                createdAt: Instant(secondsSinceEpoch: 0))
        }
        #expect(UnlockUser(ActSubject(user("ada"))).words == ["user", "unlock", "ada"])
        for name in ["-a", "a b", "username:x", "fedcba9876543210fedcba9876543210", "a'"] {
            #expect(UnlockUser(ActSubject(user(name))).words == ["user", "unlock", Self.id], "\(name)")
        }
        #expect(UnlockUser(ActSubject(userNamed: "ada")).call.path == "/users/username%3Aada/unlock")
    }
}
