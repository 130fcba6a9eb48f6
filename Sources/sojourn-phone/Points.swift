import Foundation
import SojournClient
import SojournTestKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A point in a renewal at which the phone can be stopped.
enum Point: String, CaseIterable, Sendable {
    case beforeSend = "before-send"
    /// The request is under way.
    case sent
    /// The answer is there, and nothing is stored.
    case received
    /// The store is locked for the swap.
    case locked
    case tempWritten = "temp-written"
    case tempSynced = "temp-synced"
    case renamed
    case folderSynced = "folder-synced"
}

/// What the phone does at a point: it stands still until it gets SIGCONT, or it is gone at once, as by SIGKILL.
enum Stop: String, Sendable {
    case freeze, crash
}

/// The points that are armed. Each stop happens once.
final class Points: Sendable {
    private let armed = Guarded<[Point: Stop]>([:])

    func arm(_ point: Point, _ stop: Stop) { armed.withLock { $0[point] = stop } }

    func isArmed(_ point: Point) -> Bool { armed.withLock { $0[point] != nil } }

    func pass(_ point: Point) {
        switch armed.withLock({ $0.removeValue(forKey: point) }) {
        // To this thread: a signal to the process may reach another one first, and this one would go on for a moment.
        case .freeze: raise(SIGSTOP)
        case .crash: kill(getpid(), SIGKILL)
        case nil: break
        }
    }
}

extension Points {
    /// The point after a step of the store.
    func pass(_ step: PrivateFile.Step) {
        switch step {
        case .locked: pass(Point.locked)
        case .tempWritten: pass(Point.tempWritten)
        case .tempSynced: pass(Point.tempSynced)
        case .renamed: pass(Point.renamed)
        case .folderSynced: pass(Point.folderSynced)
        }
    }
}

/// A transport that passes the points before and after a request.
struct PointTransport: Transport {
    let base: any Transport
    let points: Points

    func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        points.pass(Point.beforeSend)
        if points.isArmed(.sent) {
            // The request leaves while this waits; the test sees to it that no answer comes so soon.
            Thread.detachNewThread { [points] in
                Thread.sleep(forTimeInterval: 0.05)
                points.pass(Point.sent)
            }
        }
        let answer = try await base.send(request, within: limit)
        points.pass(Point.received)
        return answer
    }
}

/// The clocks of the system, with a wall that can be moved, and time that passes at once.
final class PhoneClock: ClientClock {
    private let system = SystemClock()
    private let shift = Guarded<(wall: Int64, elapsed: Int64)>((0, 0))

    func moveWall(by seconds: Int64) { shift.withLock { $0.wall += seconds } }

    func elapse(_ seconds: Int64) { shift.withLock { $0.elapsed += seconds } }

    var wallSeconds: Int64 { system.wallSeconds + shift.withLock { $0.wall + $0.elapsed } }
    var uptime: Duration { system.uptime + .seconds(shift.withLock { $0.elapsed }) }
    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
}
