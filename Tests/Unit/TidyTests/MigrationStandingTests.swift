import Migrations
import Testing

/// Which programs work on a schema beside which others.
@Suite struct MigrationStandingTests {
    private static func step(_ version: Int, _ statement: String, _ text: String = "") -> Migration {
        let script = Migration.Script("-- effects: \(statement)\n\(text)")
        return Migration(version: version, name: "step", sqlite: script, postgres: script)
    }

    private static let steps = [
        step(1, "adds tables notes"), step(2, "adds columns to notes"), step(3, "retires parts of notes"),
        step(4, "drops columns of notes\n-- readable by: 3"),
    ]

    private static func index(_ version: Int, _ text: String) -> Migration {
        Migration(
            version: version, name: "index", sqlite: Migration.Script("-- effects: adds indexes on notes"),
            postgres: Migration.Script("-- effects: adds indexes concurrently on notes\n\(text)"))
    }

    private static let index = index(5, "CREATE INDEX CONCURRENTLY IF NOT EXISTS notes_text ON notes (text);")

    /// The records after programs that know that many steps have started, one after the other.
    private static func records(_ programs: Int...) -> [Migration.Record] {
        programs.reduce(into: []) { records, known in
            for step in steps.prefix(known).dropFirst(records.count) {
                records.append(
                    Migration.Record(
                        version: step.version, name: step.name, digest: [UInt8(step.version)],
                        readableBy: max(records.last?.readableBy ?? 1, step.postgres.readableBy ?? 1),
                        newestKnown: known))
            }
        }
    }

    private static func standing(
        _ records: [Migration.Record], _ known: [Migration]
    ) throws(Migration.Standing.Problem) -> Migration.Standing {
        try Migration.Standing(of: records, known: known) { [UInt8($0.version)] }
    }

    @Test("a program works on a schema with later steps if it knows the step that they name", arguments: 1...4, 1...4)
    func readable(known: Int, applied: Int) throws {
        let program = Array(Self.steps.prefix(known))
        if applied == 4, known < 3 {
            #expect(throws: Migration.Standing.Problem.newer(version: 4, readableBy: 3, newestKnown: known)) {
                try Self.standing(Self.records(applied), program)
            }
            return
        }
        let standing = try Self.standing(Self.records(applied), program)
        #expect(standing.missing.map(\.version) == Array(Self.steps.map(\.version)[min(applied, known)..<known]))
        #expect(standing.newer.map(\.version) == Array(Self.steps.map(\.version)[min(applied, known)..<applied]))
    }

    @Test("a step of another text, or one that was left out, is refused, also beside later steps")
    func changed() {
        let records = Self.records(3)
        for (wrong, version) in [([records[0], records[2]], 2), (Array(records.dropFirst()), 1)] {
            for known in [2, 3, 4] {
                #expect(throws: Migration.Standing.Problem.changed(version: version)) {
                    try Self.standing(wrong, Array(Self.steps.prefix(known)))
                }
            }
        }
        #expect(throws: Migration.Standing.Problem.changed(version: 1)) {
            try Migration.Standing(of: records, known: Array(Self.steps.prefix(1))) { _ in [9] }
        }
    }

    /// Each case: the programs that have started, and whether the next one may drop something at its start.
    @Test(
        "a step that drops something waits for a release between, unless no earlier program has used the database",
        arguments: [
            ([], true), ([1], false), ([2], false), ([1, 3], true), ([1, 2, 3], true), ([3], true), ([4], true),
        ])
    func contracting(programs: [Int], isApplied: Bool) throws {
        var records: [Migration.Record] = []
        for known in programs {
            for step in Self.steps.prefix(known).dropFirst(records.count) {
                records.append(
                    Migration.Record(
                        version: step.version, name: "step", digest: [UInt8(step.version)], readableBy: 1,
                        newestKnown: known))
            }
        }
        let standing = try Self.standing(records, Self.steps)
        for run in [Migration.Run.start, .command, .contraction] {
            switch standing.next(in: run) {
            case .waits(let step, let isRetired):
                #expect(isRetired == (records.count > 2))
                #expect(step.version == 4 && !isApplied && run != .contraction)
            case .apply(let step):
                #expect(step.version == records.count + 1 && (isApplied || run == .contraction))
            case .nothing: #expect(records.count == 4)
            case .build: Issue.record("there is no index to build")
            }
        }
    }

    @Test("an index that is built beside nodes holds no start back, unless a later step drops something")
    func index() throws {
        let records = Self.records(4)
        let later = Self.step(6, "adds tables lines")
        func next(_ more: [Migration], _ run: Migration.Run, _ records: [Migration.Record]) throws -> String {
            switch try Self.standing(records, Self.steps + more).next(in: run) {
            case .nothing: "nothing"
            case .apply(let step): "apply \(step.version)"
            case .build(let step): "build \(step.version)"
            case .waits(let step, _): "waits \(step.version)"
            }
        }
        #expect(try next([Self.index], .start, records) == "nothing")
        #expect(try next([Self.index], .command, records) == "build 5")
        #expect(try next([Self.index, later], .start, records) == "apply 6")
        let six = records + [Migration.Record(version: 6, name: "", digest: [6], readableBy: 3, newestKnown: 6)]
        #expect(try next([Self.index, later], .start, six) == "nothing")
        #expect(try next([Self.index, later], .command, six) == "build 5")
        let contract = Self.step(7, "drops tables notes\n-- readable by: 3")
        #expect(try next([Self.index, later, contract], .start, six) == "build 5")
    }

    @Test("the migrations have no faults, and a fault is told")
    func faults() {
        #expect(Migration.faults(in: Migration.all) == [])
        #expect(Migration.faults(in: Self.steps + [Self.index]) == [])
        let wrong: [(Migration, String)] = [
            (Self.step(4, "drops tables notes"), "says which earlier step"),
            (Self.step(4, "adds tables lines; drops indexes of notes"), "says which earlier step"),
            (Self.step(4, "drops columns of notes\n-- readable by: 4"), "says which earlier step"),
            (Self.step(4, "drops columns of notes\n-- readable by: 2"), "retires parts of notes"),
            (Self.step(4, "drops tables notes, lines\n-- readable by: 3"), "retires parts of lines"),
            (Self.step(4, "adds tables lines\n-- readable by: 5"), "no program could read it"),
            (Self.step(4, "adds indexes concurrently on notes"), "SQLite builds no index"),
            (Self.index(4, "CREATE INDEX notes_text ON notes (text);"), "alone"),
            (Self.index(4, "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS notes_text ON notes (text);"), "alone"),
            (Self.index(4, "CREATE INDEX CONCURRENTLY notes_text ON notes (text);"), "alone"),
            (Self.index(4, "ALTER TABLE notes ADD COLUMN text text;"), "alone"),
        ]
        for (step, words) in wrong {
            let faults = Migration.faults(in: Array(Self.steps.prefix(3)) + [step])
            #expect(!faults.isEmpty && faults.contains { $0.contains(words) }, "\(step.postgres.text): \(faults)")
        }
    }

    @Test("a script says once which step reads it, or not at all")
    func stated() {
        #expect(Migration.Script("-- effects: adds tables a").readableBy == nil)
        #expect(Migration.Script("-- effects: adds tables a,\n--   b\n-- readable by: 12\nCREATE").readableBy == 12)
        #expect(Migration.Script("-- effects: adds tables a\n\n-- readable by: 12").readableBy == nil)
        #expect(Migration.Effect.list(statedIn: "-- readable by: 1\n-- effects: adds tables a") != nil)
    }
}
