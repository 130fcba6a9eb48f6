import JSON
import Testing

@testable import AdminActs
@testable import Console
@testable import Endpoints
@testable import sojourn

/// The options of `sojourn client`, which the console prints.
@Suite("Options of clients") struct ClientOptionTests {
    @Test("each member of a client has an option of both commands, and each option with a value has a member")
    func everyMemberHasAnOption() {
        let members = ClientOption.all.map(\.member)
        #expect(Set(members).count == members.count)
        // No client can have user codes.
        #expect(Set(members) == Set(ClientMembers.names).subtracting(["backchannel_user_code_parameter"]))
        #expect(Set(ClientForm.names).isSubset(of: members))
        for command in [ClientCommands.create, ClientCommands.update] {
            let names = command.options.filter { $0.value != nil && $0.name != "--secret-overlap" }.map(\.name)
            let own = names.filter { name in ClientOption.all.contains { $0.name == name } }
            #expect(Set(own) == Set(ClientOption.all.map(\.name)), "\(command.name)")
        }
    }

    @Test(
        "a printed command names the members of its form, whatever they are",
        arguments: ClientOption.all.filter { $0.kind != .file } as [ClientOption])
    func printedCommandsAreRead(_ option: ClientOption) throws {
        let texts: [JSONValue] = [.string("a"), .string("https://o'hara.example/\"$(id)?a=b")]
        var values: [JSONValue]
        switch option.kind {
        case .text where !Self.choices(option).isEmpty: values = Self.choices(option).map { .string($0) }
        case .text: values = texts + [.string("")]
        case .clearableText where !Self.choices(option).isEmpty:
            values = Self.choices(option).map { .string($0) } + [.null]
        case .clearableText: values = texts + [.null, .string("-x --y"), .string("ä ö")]
        case .list: values = [.array(texts), .array([])]
        case .clearableList: values = [.array(texts), .null]
        case .lifetime: values = [.integer(90), .integer(1_209_600), .null]
        case .flag: values = [.bool(true), .bool(false)]
        case .object: values = [.object([:]), .object(["a 'b'": .array(texts)])]
        case .file: values = []
        }
        for value in values {
            for (verb, id) in [("create", "shop"), ("update", "--help"), ("update", "a b")] {
                let body: [String: JSONValue] = ["client_name": .string("N")].merging([option.member: value]) { $1 }
                let act: any AdminAct =
                    verb == "create" ? CreateClient(ActSubject(id), body) : EditClient(ActSubject(id), body)
                let line: String = try #require(act.line)
                let words = try #require(ShellText(line).commands.first)
                #expect(words.first == "sojourn" && ShellText(line).commands.count == 1, "\(line)")
                guard
                    case .run(let command, let arguments) = try Arguments.parse(
                        Array(words.dropFirst()), commands: Commands.all)
                else {
                    Issue.record("\(line)")
                    continue
                }
                #expect(command.path == ["client", verb] && arguments.operands == [id], "\(line)")
                #expect(try ClientCommands.body(arguments) == body, "\(line)")
                #expect(arguments.has("--yes") == (verb == "update" && LifetimePreview.isAsked(body)), "\(line)")
            }
        }
    }

    private static func choices(_ option: ClientOption) -> [String] {
        ClientCommands.create.options.first { $0.name == option.name }?.choices ?? []
    }

    @Test("keys come on the standard input, and a member without an option has no command")
    func keysComeOnTheInput() {
        let keys: [String: JSONValue] = ["jwks": .object(["keys": .array([])])]
        #expect(
            EditClient(ActSubject("x"), keys).line
                == #"printf %s '{"keys":[]}' | sojourn client update --jwks - x"#)
        #expect(EditClient(ActSubject("x"), ["jwks": .null]).line == "sojourn client update --jwks '' x")
        #expect(EditClient(ActSubject("x"), ["other": .bool(true)]).line == nil)
    }
}
