import Sessions
import SojournClient

/// A record as small as `RenewalMachine` allows: which session, and which of its refresh tokens.
struct WalkRecord: RenewableRecord {
    var version = 0
    var session = 0
    var token: UInt64 = 1
    var isEnded = false

    typealias Grant = UInt64
    var renewability: Renewability { isEnded ? .ended(.refreshTokenReused) : .renewable }
}

/// A small world in which the SDK's own `RenewalMachine` meets the server's own `RefreshPolicy`: one phone whose processes share
/// a store, a server with one session, and a network that loses, delays and duplicates. Every value is small, so that all
/// histories can be walked.
///
/// Each output of the machine is a step of its own, so that anything can happen in between: another process, time, the end of the
/// process, a failing store.
struct PhoneWorld: Hashable {
    /// What may happen in this world, and how often.
    struct Rules: Hashable {
        /// Processes on the one phone.
        var processes = 1
        /// Requests sent in all.
        var sends = 4
        /// Requests that the network duplicates.
        var duplicates = 0
        /// Seconds that pass in all; each step is one second.
        var seconds = 7
        /// Ends of a process at any point.
        var kills = 0
        /// Reads and writes of the store that fail.
        var failures = 0
        /// Logins that begin another session.
        var logins = 0
        /// Restores of the server's database from the backup of the first moment.
        var restores = 0
        /// Restores of the phone's store from the backup of the first moment.
        var storeRestores = 0
        /// How many seconds a process can be frozen between loading a record and sending its token.
        var freeze: Int64 = 0
        /// Whether requests say when they were sent.
        var saysSentAt = false
        /// Whether the session is bound to a key, so that every request carries a proof of it.
        var isBound = false
        /// The rotation interval `W`, in seconds.
        var interval: Int64 = 2
        /// How long after it was sent a request may still be decided: less than this many seconds.
        var decisionLimit: Int64 = 2
        /// How long a process waits for an answer: less than this many seconds.
        var patience: Int64 = 2
    }

    /// A renewal under way in one process.
    struct Process: Hashable {
        var machine: RenewalMachine<WalkRecord>
        /// What the machine wants done next.
        var output: RenewalMachine<WalkRecord>.Output
        /// The request that waits for its answer.
        var awaited: Int?
        /// Seconds since it was sent, until its answer is stored.
        var waited: Int64 = 0
        /// Seconds since the record was loaded.
        var sinceLoad: Int64 = 0
        /// The record that this renewal loaded first.
        var firstLoaded: WalkRecord?
    }

    struct Request: Hashable {
        var id: Int
        var process: Int
        var record: WalkRecord
        var key: UInt64?
        /// Seconds since it was sent, and since its `sent_at`.
        var age: Int64 = 0
        var sentAtAge: Int64
    }

    struct Answer: Hashable {
        var request: Request
        var verdict: Verdict<UInt64>
    }

    /// How an honest user was logged out: what must never be.
    enum Violation: Hashable {
        case refused(RefusalReason)
        case endIsStored
        case otherSessionIsStored
        case storedTokenIsRefused
    }

    // The server's half.
    var session = 0
    var parent: UInt64 = 0
    var child: UInt64 = 1
    var sinceAnswer: Int64 = 0
    var childRequestKey: UInt64?
    var sinceConfirmation: Int64?
    // The phone's half.
    var stored = WalkRecord()
    var processes: [Process?]
    /// What a process could not store and has in memory all the same. Only a broken driver has such a thing.
    var unstored: [WalkRecord?]
    // What is under way.
    var requests: Set<Request> = []
    var answers: Set<Answer> = []
    /// What is left of the rules.
    var rules: Rules
    var violation: Violation?

    init(_ rules: Rules) {
        self.rules = rules
        // The login was long ago.
        sinceAnswer = rules.interval
        processes = Array(repeating: nil, count: rules.processes)
        unstored = processes.map { _ in nil }
    }

    /// Every world that can come next.
    func successors(_ mutation: DriverMutation?) -> [PhoneWorld] {
        var next: [PhoneWorld] = []
        func add(_ change: (inout PhoneWorld) -> Void) {
            var world = self
            change(&world)
            world.tidy(mutation)
            next.append(world)
        }
        for (index, process) in processes.enumerated() {
            if rules.kills > 0, process != nil || unstored[index] != nil {
                add {
                    $0.rules.kills -= 1
                    ($0.processes[index], $0.unstored[index]) = (nil, nil)
                }
            }
            guard let process else {
                if rules.sends > 0 { add { $0.begin(index) } }
                continue
            }
            if process.awaited != nil {
                // A driver that takes late answers waits as long as its request can live.
                if mutation?.takesLateAnswers != true {
                    add { $0.pass(.answered(.unreachable(Self.noAnswer)), to: index) }
                }
                continue
            }
            addDeeds(of: process, index, mutation, add)
        }
        for request in requests {
            add { $0.deliver(request, keepingDuplicate: false, mutation) }
            if rules.duplicates > 0 { add { $0.deliver(request, keepingDuplicate: true, mutation) } }
            add { $0.requests.remove(request) }
        }
        for answer in answers { add { $0.receive(answer, mutation) } }
        if rules.seconds > 0, canTimePass { add { $0.passSecond(mutation) } }
        if rules.restores > 0 { add { $0.restoreServer() } }
        if rules.logins > 0 { add { $0.logIn() } }
        if rules.storeRestores > 0 {
            add {
                $0.rules.storeRestores -= 1
                $0.stored = WalkRecord(version: $0.stored.version + 1)
            }
        }
        return next
    }

    static let noAnswer = Unreachable("no answer")

    // MARK: The driver

    private mutating func begin(_ index: Int) {
        var machine = RenewalMachine<WalkRecord>(of: (unstored[index] ?? stored).version)
        let output = machine.handle(.begin)
        processes[index] = Process(machine: machine, output: output)
    }

    /// Passes an input to the machine of a process. A finished machine is forgotten.
    private mutating func pass(_ input: RenewalMachine<WalkRecord>.Input, to index: Int) {
        guard var process = processes[index] else { return }
        process.awaited = nil
        process.output = process.machine.handle(input)
        // An answer must be stored within the time limit that began when its request was sent.
        if case .replace = process.output {} else { process.waited = 0 }
        while case .wait = process.output { process.output = process.machine.handle(.waited) }
        if case .finish = process.output { processes[index] = nil } else { processes[index] = process }
    }

    /// Adds what can come of carrying out the output of a process.
    private func addDeeds(
        of process: Process, _ index: Int, _ mutation: DriverMutation?, _ add: ((inout PhoneWorld) -> Void) -> Void
    ) {
        switch process.output {
        case .load:
            add { $0.load(index, mutation) }
            if rules.failures > 0 {
                add {
                    $0.rules.failures -= 1
                    $0.pass(.loadFailed(.locked), to: index)
                }
            }
        case .send(let record):
            if rules.sends > 0 { add { $0.send(record, process, index, mutation) } }
            if process.sinceLoad > 0 { add { $0.pass(.unsent, to: index) } }
        case .replace(let version, let change):
            add { $0.replace(version, change, index, mutation) }
            if rules.failures > 0 {
                add {
                    $0.rules.failures -= 1
                    if mutation == .presentsUnstored { $0.unstored[index] = $0.changed(change) }
                    $0.pass(.replaceFailed(.failed(28, "disk full")), to: index)
                }
            }
        case .wait, .finish: break
        }
    }

    private mutating func load(_ index: Int, _ mutation: DriverMutation?) {
        var record = stored
        if mutation == .presentsUnstored, let kept = unstored[index] { record = kept }
        if mutation == .retriesFromMemory { record = processes[index]?.firstLoaded ?? record }
        if processes[index]?.firstLoaded == nil, mutation == .retriesFromMemory {
            processes[index]?.firstLoaded = record
        }
        processes[index]?.sinceLoad = 0
        pass(.loaded(record), to: index)
    }

    private mutating func send(
        _ record: WalkRecord, _ process: Process, _ index: Int, _ mutation: DriverMutation?
    ) {
        let key: UInt64? = mutation == .randomKey ? UInt64(1000 + rules.sends) : record.token
        requests.insert(
            Request(id: rules.sends, process: index, record: record, key: key, sentAtAge: process.sinceLoad))
        processes[index]?.awaited = rules.sends
        rules.sends -= 1
    }

    private func changed(_ change: RenewalMachine<WalkRecord>.Change) -> WalkRecord {
        var record = stored
        record.version += 1
        switch change {
        case .grant(let token): record.token = token
        case .ended: record.isEnded = true
        }
        return record
    }

    private mutating func replace(
        _ version: Int, _ change: RenewalMachine<WalkRecord>.Change, _ index: Int, _ mutation: DriverMutation?
    ) {
        var compares = mutation != .writesBlindly
        if case .ended = change, mutation == .endsBlindly { compares = false }
        guard stored.version == version || !compares else { return pass(.replaced(nil), to: index) }
        stored = changed(change)
        unstored[index] = nil
        pass(.replaced(stored), to: index)
    }

    /// An answer reaches the phone.
    private mutating func receive(_ answer: Answer, _ mutation: DriverMutation?) {
        answers.remove(answer)
        let index = answer.request.process
        if processes[index]?.awaited == answer.request.id {
            var verdict = answer.verdict
            if mutation == .endsOnAnyRefusal, case .unreachable = verdict { verdict = .ended(.refreshTokenReused) }
            pass(.answered(verdict), to: index)
        } else if mutation?.takesLateAnswers == true, stored.version == answer.request.record.version,
            case .granted(let token) = answer.verdict
        {
            stored = changed(.grant(token))
        }
    }

    // MARK: The rest of the world

    private mutating func logIn() {
        rules.logins -= 1
        session += 1
        (parent, child, childRequestKey, sinceAnswer, sinceConfirmation) = (0, 1, nil, 0, nil)
        stored = WalkRecord(version: stored.version + 1, session: session)
    }

    /// The database is restored from the backup of the first moment, which takes longer than any request lives.
    private mutating func restoreServer() {
        rules.restores -= 1
        (parent, child, childRequestKey, sinceAnswer, sinceConfirmation) = (0, 1, nil, rules.interval, nil)
        requests = []
        for index in processes.indices where processes[index]?.awaited != nil {
            pass(.answered(.unreachable(Self.noAnswer)), to: index)
        }
    }

    /// Without a freeze, a token is sent in the second in which it was loaded.
    private var canTimePass: Bool {
        processes.allSatisfy { process in
            guard let process, process.awaited == nil, case .send = process.output else { return true }
            return process.sinceLoad < rules.freeze
        }
    }

    private mutating func passSecond(_ mutation: DriverMutation?) {
        rules.seconds -= 1
        // What is long ago need not be told apart; but the confirmation came after the answer, and stays so.
        sinceConfirmation = sinceConfirmation.map { min($0 + 1, rules.interval) }
        sinceAnswer = min(sinceAnswer + 1, sinceConfirmation == nil ? rules.interval : 2 * rules.interval)
        requests = Set(requests.map(\.older).filter { $0.age < rules.decisionLimit })
        for index in processes.indices {
            processes[index]?.sinceLoad += 1
            guard let process = processes[index] else { continue }
            var isStoring = false
            if case .replace = process.output { isStoring = mutation != .storesLate }
            guard process.awaited != nil || isStoring else { continue }
            processes[index]?.waited += 1
            guard processes[index]?.waited == rules.patience else { continue }
            pass(isStoring ? .replaced(nil) : .answered(.unreachable(Self.noAnswer)), to: index)
        }
    }

    /// Forgets what can change nothing any more, and looks for violations.
    private mutating func tidy(_ mutation: DriverMutation?) {
        answers = answers.filter { answer in
            mutation?.takesLateAnswers == true || processes[answer.request.process]?.awaited == answer.request.id
        }
        if rules.freeze == 0 {
            for index in processes.indices { processes[index]?.sinceLoad = 0 }
        }
        guard violation == nil else { return }
        if stored.isEnded { violation = .endIsStored }
        if stored.session != session { violation = .otherSessionIsStored }
        if rules.sends == 0, isRefusedLater { violation = .storedTokenIsRefused }
    }
}

extension PhoneWorld.Request {
    /// The request a second later.
    fileprivate var older: PhoneWorld.Request {
        var request = self
        request.age += 1
        request.sentAtAge += 1
        return request
    }
}

/// A rule of the SDK, broken: the walk must notice each.
enum DriverMutation: String, CaseIterable, Sendable {
    /// New tokens are written whatever is stored.
    case writesBlindly
    /// The end of a session is written whatever is stored.
    case endsBlindly
    /// A token that could not be stored is presented.
    case presentsUnstored
    /// A retry presents what was loaded before the first try.
    case retriesFromMemory
    /// An answer that comes after the time limit is stored.
    case takesLateAnswers
    /// An answer that came in time is stored after the time limit, because the process was frozen in between.
    case storesLate
    /// Each try has an `Idempotency-Key` of its own, and late answers are stored.
    case randomKey
    /// Every answer but new tokens ends the session.
    case endsOnAnyRefusal

    /// Whether a driver waits for as long as its request can live.
    var takesLateAnswers: Bool { self == .takesLateAnswers || self == .randomKey }
}
