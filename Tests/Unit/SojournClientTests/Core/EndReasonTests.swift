import SojournClient
import Testing

@Suite struct EndReasonTests {
    @Test func reasonsOfLaterServersAreKept() {
        #expect(EndReason(rawValue: "a_new_word").rawValue == "a_new_word")
    }
}
