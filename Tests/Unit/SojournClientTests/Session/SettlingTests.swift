import Foundation
import SojournClient
import SojournTestKit
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a program waits for before it ends.
struct SettlingTests {
    @Test func settle_waitsUntilTheServerHasBeenTold() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        #expect(await phone.sojourn.signOut())
        await until("the server is being told") { await gate.waiting == 1 }
        #expect(phone.record?.debts.count == 1)
        let settled = Task { await phone.sojourn.settle(within: .seconds(5)) }
        await until("settle waits") { phone.clock.sleeperCount > 0 }
        await gate.open()
        #expect(await settled.value)
        #expect(phone.record?.debts.isEmpty == true && phone.wire.logouts.count == 1)
    }

    @Test func settle_waitsForARenewal() async throws {
        let phone = try await Phone.signedIn()
        let (gate, old) = (Gate(), phone.record?.session?.accessToken)
        phone.wire.next(Wire.holdAnswer(gate))
        phone.clock.advance(by: .seconds(3700))
        await phone.sojourn.start()
        await until("the renewal is under way") { await gate.waiting == 1 }
        let settled = Task { await phone.sojourn.settle(within: .seconds(5)) }
        await until("settle waits") { phone.clock.sleeperCount > 0 }
        await gate.open()
        #expect(await settled.value && phone.record?.session?.accessToken != old)
        #expect(await phone.sojourn.settle(within: .zero))
    }

    @Test func settle_endsWithItsTime_andWhenItsTaskIsCancelled() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        await phone.sojourn.signOut()
        await until("the server is being told") { await gate.waiting == 1 }
        let late = Task { await phone.sojourn.settle(within: .seconds(5)) }
        await until("settle waits") { phone.clock.sleeperCount > 0 }
        phone.clock.advance(by: .seconds(5))
        #expect(await late.value == false)
        let cancelled = Task { await phone.sojourn.settle(within: .seconds(5)) }
        await until("settle waits") { phone.clock.sleeperCount > 0 }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        await gate.open()
        await until("the server has been told") { phone.record?.debts.isEmpty == true }
    }

    @Test func settle_triesOnceMore_whatCouldNotBeTold() async throws {
        let phone = try await Phone.signedIn()
        phone.server.setReachable(false)
        await phone.sojourn.signOut()
        #expect(await phone.sojourn.settle(within: .seconds(5)) == false)
        #expect(phone.wire.logouts.count == 2 && phone.record?.debts.count == 1)
        phone.server.setReachable(true)
        #expect(await phone.sojourn.settle(within: .seconds(5)))
        #expect(phone.record?.debts.isEmpty == true)
    }

    @Test func settle_isFalse_whenASignOutIsNotStored() async throws {
        let phone = try await Phone.signedIn()
        phone.store.fail(writes: .failed(5, "disk"))
        await phone.sojourn.signOut()
        #expect(await phone.sojourn.settle(within: .seconds(5)) == false)
        phone.store.fail(writes: nil)
        #expect(await phone.sojourn.settle(within: .seconds(5)))
        #expect(phone.record?.session == nil && phone.wire.logouts.count == 1)
    }

    @Test func settle_withoutARecord_hasNothingToDo() async throws {
        #expect(try await Phone.new().sojourn.settle(within: .zero))
    }

    #if os(Linux)
        @Test func exit_leavesTheAlgorithmsUsable() async {
            // A handler that is registered before the library's own would run after that has freed everything.
            await #expect(processExitsWith: .success) {
                atexit { _ = SmallCrypto.seal([1], key: SmallCrypto.randomBytes(count: 32), associatedData: []) }
                _ = URLSessionTransport()
                _ = SmallCrypto.sha256([1])
                exit(0)
            }
        }
    #endif
}
