import SojournClient
import SojournTestKit
import Testing

/// The recipe of the manual's page about biometry.
struct UnlockRecipeTests {
    private struct Questions: UnlockQuestions {
        let steps: Guarded<[PresenceStep]>
        let offers = Guarded<[[PresenceStep]]>([])

        func password() async -> String? { "pw" }

        func choose(among offer: [PresenceStep]) async -> PresenceStep? {
            offers.withLock { $0.append(offer) }
            return steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    @Test func userDecides_untilTheSessionIsOpen() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        for _ in 0..<5 { phone.gate.next(.deny) }
        let questions = Questions(steps: Guarded([.retry, .retry, .retry, .retry, .unlockWithDeviceCredential]))
        #expect(try await phone.sojourn.open(asking: questions))
        let asked: [PresenceStep] = [.retry, .usePassword, .unlockWithDeviceCredential]
        let locked: [PresenceStep] = [.unlockWithDeviceCredential, .usePassword]
        #expect(questions.offers.withLock { $0 } == [[.retry], [.retry], asked, asked, locked])
    }

    @Test func otherBiometry_takesThePassword() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        phone.gate.changeEnrollment()
        #expect(try await phone.sojourn.open(asking: Questions(steps: Guarded([.usePassword]))))
        #expect(phone.record?.session?.mode == .password)
    }

    @Test func userThatClosesTheQuestion_staysOutside() async throws {
        let phone = try await Phone.signedIn(mode: .biometric).other()
        phone.gate.next(.code(128))
        #expect(try await !phone.sojourn.open(asking: Questions(steps: Guarded([]))))
    }
}
