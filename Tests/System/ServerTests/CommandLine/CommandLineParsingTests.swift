import AdminActs
import JSON
import Testing

@testable import sojourn

@Suite("Command line: words")
struct CommandLineParsingTests {
    static func outcome(_ words: [String]) -> (help: String?, arguments: Arguments?, failure: Failure?) {
        do throws(Failure) {
            switch try Arguments.parse(words, commands: Commands.all) {
            case .help(let text): return (text, nil, nil)
            case .run(_, let arguments): return (nil, arguments, nil)
            }
        } catch { return (nil, nil, error) }
    }

    @Test("every command has a help of its own, with usage and an example, in either place of --help")
    func help() {
        for command in Commands.all {
            for words in [command.path + ["--help"], command.path + ["-h"], ["help"] + command.path] {
                let text = Self.outcome(words).help ?? ""
                #expect(text.contains("usage: sojourn \(command.name)"), "\(words)")
                #expect(text.contains("Examples:\n  "), "\(words)")
                #expect(text.contains(command.summary))
                for option in command.options { #expect(text.contains(option.name), "\(words)") }
            }
        }
    }

    @Test("the preset for browsers takes the URL of the app, and other options change its members")
    func browserPreset() throws {
        func act(_ words: String...) throws -> [String: JSONValue] {
            let arguments = try #require(Self.outcome(["client", "create", "shop-web"] + words).arguments)
            return try #require(try ClientCommands.create.act?(arguments).call.body)
        }
        let body = try act("--preset", "browser", "--url", "https://shop.example", "--offline-session-max", "14d")
        #expect(body["allowed_origins"]?.elements == [.string("https://shop.example")])
        #expect(body["redirect_uris"]?.elements == [.string("https://shop.example/")])
        #expect(body["dpop"] == .string("nonce") && body["offline_session_max"] == .integer(14 * 86_400))
        #expect(body["grant_types"]?.elements.count == 2)
        let fapi = try act("--preset", "fapi")
        #expect(fapi["token_endpoint_auth_method"] == .string("private_key_jwt"))
        for words in [
            ["--preset", "browser"], ["--url", "https://shop.example"],
            ["--preset", "browser", "--url", "http://shop.example"],
            ["--preset", "web", "--url", "https://shop.example"],
        ] {
            let arguments = try #require(Self.outcome(["client", "create", "shop-web"] + words).arguments)
            #expect(throws: Failure.self, "\(words)") { try ClientCommands.create.act?(arguments) }
        }
    }

    @Test("every group and the whole have a help; the whole tells all commands and exit codes")
    func overview() {
        let overview = Self.outcome([]).help ?? ""
        for words in [["--help"], ["-h"], ["help"]] { #expect(Self.outcome(words).help == overview) }
        for command in Commands.all { #expect(overview.contains("\n  \(command.path[0]) "), "\(command.name)") }
        for code in ExitCode.allCases { #expect(overview.contains("\n  \(code.rawValue)  \(code.meaning)")) }
        for group in Commands.groups {
            let text = Self.outcome([group.name, "--help"]).help ?? ""
            #expect(text == Self.outcome(["help", group.name]).help)
            for command in Commands.all where command.path[0] == group.name { #expect(text.contains(command.path[1])) }
        }
        #expect(Set(Commands.all.filter { $0.path.count == 2 }.map { $0.path[0] }) == Set(Commands.groups.map(\.name)))
    }

    @Test("every example is a command line that parses")
    func examples() {
        for command in Commands.all {
            #expect(!command.examples.isEmpty)
            for example in command.examples {
                // One of several commands may be another program, and one before may be another command.
                let lines = example.split(separator: " && ").flatMap { $0.split(separator: " | ") }
                let own = lines.map(Self.words).filter { $0.first == "sojourn" }
                let outcomes = own.map { Self.outcome(Array($0.dropFirst())) }
                for outcome in outcomes {
                    #expect(outcome.failure == nil, "\(example): \(outcome.failure?.lines ?? [])")
                }
                #expect(outcomes.contains { $0.arguments?.command.path == command.path }, "\(example)")
            }
        }
    }

    /// As a shell would: blanks part words, single quotes hold them together.
    static func words(_ line: Substring) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().reduce(into: [String]()) {
            if $1.offset % 2 == 1 {
                $0.append(String($1.element))
            } else {
                $0 += $1.element.split(separator: " ").map(String.init)
            }
        }
    }

    @Test(
        "an error names what is wrong and what would be right",
        arguments: [
            ("usr", "unknown command 'usr'; did you mean 'user'?"), ("user crate", "did you mean 'user create'?"),
            ("user", "'user' needs one more word"), ("xyzzy", "unknown command 'xyzzy'"),
            ("help xyzzy", "unknown command 'xyzzy'"), ("help user crate", "did you mean 'user create'?"),
            ("user create", "USERNAME is missing"), ("user show a b", "'b' is one word too many"),
            ("user list --jsn", "unknown option --jsn; did you mean --json?"),
            ("client update tv --max 3d", "did you mean --offline-session-max?"),
            ("--config x serve", "unknown option"),
            ("user list --json=1", "--json takes no value"), ("user list --limit", "--limit needs a value: --limit N"),
            ("user list --limit 1 --limit 2", "--limit is given twice"),
            ("client create x --auth basic", "--auth must be one of none, client_secret_basic, client_secret_post"),
            ("client create x --token-style singel", "did you mean single?"),
            ("serve now", "'now' is one word too many"), ("export e.jsonl", "did you mean --output e.jsonl?"),
        ])
    func problems(line: String, expected: String) {
        let failure = Self.outcome(line.split(separator: " ").map(String.init)).failure
        #expect(failure?.code == .usage)
        #expect(failure?.lines.first?.contains(expected) == true, "\(failure?.lines ?? [])")
        #expect(failure?.lines.last?.hasPrefix("see: sojourn") == true)
    }

    @Test("values stand behind a blank or a sign of equality, and two dashes end the options")
    func values() {
        let spaced = Self.outcome(["user", "list", "--limit", "-1", "ada"]).arguments
        #expect(spaced?.value("--limit") == "-1")
        #expect(spaced?.operands == ["ada"])
        #expect(Self.outcome(["user", "list", "--cursor=a=b"]).arguments?.value("--cursor") == "a=b")
        #expect(Self.outcome(["user", "show", "--", "--help"]).arguments?.operands == ["--help"])
        #expect(Self.outcome(["--version"]).arguments?.command.name == "version")
    }

    @Test(
        "durations have units",
        arguments: [
            ("90", nil), ("90s", 90), ("15m", 900), ("12h", 43200), ("14d", 1_209_600), ("2w", 1_209_600), ("0", 0),
            ("00", nil),
            ("", nil), ("d", nil), ("-1", nil), ("1.5h", nil), ("1 d", nil), ("1y", nil), ("99999999999999999999", nil),
            ("9223372036854775807d", nil), ("+1", nil), ("１", nil),
        ] as [(String, Int64?)])
    func durations(text: String, seconds: Int64?) { #expect(DurationText.seconds(text) == seconds) }

    @Test(
        "spans are said in the largest unit that fits",
        arguments: [
            (0, "0 seconds"), (1, "1 second"), (60, "1 minute"), (90, "90 seconds"), (119, "119 seconds"),
            (120, "2 minutes"), (3600, "1 hour"), (5400, "90 minutes"), (86400, "1 day"), (129_600, "36 hours"),
            (1_209_600, "14 days"),
        ] as [(Int64, String)])
    func spans(seconds: Int64, text: String) { #expect(Formatting.span(seconds) == text) }

    @Test(
        "distances are rounded, not cut off",
        arguments: [
            (59, 59), (119, 119), (121, 120), (179, 180), (7199, 7200), (1_209_599, 1_209_600), (1_166_401, 1_209_600),
        ] as [(Int64, Int64)])
    func distances(seconds: Int64, rounded: Int64) { #expect(Formatting.rounded(seconds) == rounded) }

    @Test("the name of a user cannot send codes to a terminal")
    func controlCharacters() {
        let table = Formatting.table(["NAME"], [["a\u{1B}[2Jb\r\n\u{202E}c\u{9B}"]], empty: "")
        #expect(table.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x202E) })
        #expect(!table.unicodeScalars.contains("\u{9B}"))
        #expect(table.split(separator: "\n").count == 2)
    }

    @Test("a path of the admin API holds the name of a user, escaped")
    func targets() {
        let target = AdminConnection.target(["users", "username:a/b?c=ä"], [("cursor", "x&y"), ("limit", nil)])
        #expect(target == "/admin/v1/users/username%3Aa%2Fb%3Fc%3D%C3%A4?cursor=x%26y")
    }

    @Test("every reason for an end is explained, with advice")
    func explanations() {
        for reason in ["logged_out", "idle_expired", "refresh_token_reused", "user_deleted"] {
            let session = JSONValue.object([
                "session_id": .string("s"), "started_at": .integer(0), "ended_at": .integer(60),
                "client_id": .string("mobile"),
                "ended_reason": .string(reason), "device": .object(["id": .string("d1")]),
            ])
            let text = SessionExplanation(.object(["session": session, "events": .array([])])).text
            #expect(text.contains("It ended at 1970-01-01 00:01:00 UTC"))
            #expect(text.contains(": \(reason).\n"))
            #expect(text.split(separator: "\n").count >= 4, "\(text)")
        }
    }

    @Test(
        "a lifetime has a unit, and 0 is refused where it would not be what it says",
        arguments: [
            ("client update tv --offline-session-max 30", "with a unit"),
            ("user update ada --offline-session-max 0", "inherit"),
            ("client update tv --offline-session-idle 0", "inherit"),
            ("settings set --refresh-after 3600", "is it 3600s"),
            ("admin-key create ci --expires-in 90", "90d?"), ("login invite --expires-in 60", "with a unit"),
        ])
    func unitless(line: String, problem: String) async {
        do throws(Failure) {
            guard
                case .run(let command, let arguments) = try Arguments.parse(
                    line.split(separator: " ").map(String.init), commands: Commands.all)
            else { return }
            // A database that does not exist would be the next problem.
            for option in command.options where option.value == "DURATION" {
                _ =
                    try ["--offline-session-max", "--offline-session-idle"].contains(option.name)
                    ? arguments.lifetime(option.name) : arguments.seconds(option.name).map { .integer($0) }
            }
            Issue.record("\(line) is taken")
        } catch {
            #expect(error.code == .usage)
            #expect(error.lines.first?.contains(problem) == true, "\(error.lines)")
        }
    }

    @Test("lifetimes are shown as what they are: a value, nothing, or a 0 that means nothing")
    func lifetimes() {
        #expect(Formatting.lifetime(.integer(2_592_000)) == "30 days (2592000)")
        #expect(Formatting.lifetime(nil) == "inherited")
        #expect(Formatting.lifetime(.integer(0)) == "inherited (0)")
    }

    private func preview(_ ending: Int64, of sessions: Int64, earlier: Int64 = 0, isSample: Bool = false) -> String? {
        LifetimePreview.question(
            .object([
                "sessions": .integer(sessions), "ending_now": .integer(ending), "ending_earlier": .integer(earlier),
                "is_sample": .bool(isSample),
            ]))
    }

    @Test("a change asks if it ends sessions, or if only a sample says that it ends none")
    func previews() {
        #expect(preview(0, of: 12, earlier: 12) == nil)
        #expect(preview(3, of: 12)?.hasPrefix("3 of 12 active sessions would end at once") == true)
        #expect(preview(0, of: 9000, isSample: true) == nil)
        #expect(preview(0, of: 0, isSample: true)?.hasPrefix("there are too many sessions to look at all") == true)
        #expect(
            preview(0, of: 9000, earlier: 1, isSample: true)?.hasPrefix("of a sample of 9000 active sessions, 0")
                == true)
    }

    @Test("the explanation names the limit, its last change, and a session that a change has brought back, or can")
    func limits() {
        func text(_ more: [String: JSONValue]) -> String {
            let members: [String: JSONValue] = [
                "session_id": .string("s"), "started_at": .integer(0), "last_refreshed_at": .integer(100),
                "client_id": .string("mobile"), "device": .object(["id": .string("d1")]),
                "limits": .array([
                    .object([
                        "name": .string("offline_session_idle"), "seconds": .integer(1_209_600),
                        "source": .string("settings"),
                        "changed_at": .integer(90_000), "changed_by": .string("admin:local"),
                        "earlier_seconds": .integer(86400),
                    ]),
                    .object([
                        "name": .string("offline_session_max"), "seconds": .integer(2_592_000),
                        "source": .string("user"),
                    ]),
                ]),
            ]
            let session = JSONValue.object(members.merging(more) { $1 })
            return SessionExplanation(.object(["session": session, "events": .array([])])).text
        }

        let active = text([:])
        #expect(
            active.contains(
                "offline_session_idle of the settings: 14 days. It was last changed at 1970-01-02 01:00:00 UTC"))
        #expect(active.contains("by admin:local; it was 1 day before."))
        #expect(active.contains("the session had ended at 1970-01-02 00:01:40 UTC: that change has brought it back."))
        #expect(active.contains("offline_session_max of the user: 30 days."))
        #expect(!text(["last_refreshed_at": .integer(90_000)]).contains("brought it back"))

        let reached: [String: JSONValue] = ["ended_reason": .string("idle_expired"), "ended_at": .integer(1_209_700)]
        let pending = text(reached.merging(["end_recorded": .bool(false)]) { $1 })
        #expect(
            pending.contains(
                "The limit that applied is offline_session_idle of the settings: 14 days, as it is set today."))
        #expect(pending.contains("The end is not recorded yet"))
        #expect(!text(reached.merging(["end_recorded": .bool(true)]) { $1 }).contains("not recorded yet"))
        let other = text(["ended_reason": .string("logged_out"), "ended_at": .integer(60)])
        #expect(!other.contains("offline_session_idle"))
    }

    @Test("the explanation of a session names the phone that let it in, and what it has let in")
    func bonds() {
        func text(_ more: [String: JSONValue]) -> String {
            let members: [String: JSONValue] = [
                "session_id": .string("s"), "started_at": .integer(0), "client_id": .string("mobile"),
                "device": .object(["id": .string("d1")]),
            ]
            let session = JSONValue.object(members.merging(more) { $1 })
            return SessionExplanation(.object(["session": session, "events": .array([])])).text
        }
        #expect(text(["parent_session_id": .string("p1")]).contains("it ends with the session of that phone: p1."))
        let parent = text(["child_session_ids": .array([.string("c1"), .string("c2")])])
        #expect(parent.contains("It has let these sessions in, which end with it: c1, c2."))
        #expect(!text(["child_session_ids": .array([])]).contains(" let "))
    }
}
