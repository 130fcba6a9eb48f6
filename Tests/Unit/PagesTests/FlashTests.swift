import Pages
import Testing

/// What a page says once, in its URL.
@Suite struct FlashTests {
    private enum Word: String { case again, ended, goneOn = "gone-on" }

    @Test("a flash is read as it was written, and no other text is one") func texts() {
        for flash in [Flash(Word.again), Flash(.ended, 0), Flash(.ended, 12), Flash(.goneOn)] {
            #expect(Flash(text: flash.text) == flash)
        }
        for text in ["", "x", "again.", "again.x", "ended.1.2", "ended 3", "Again", ".3"] {
            #expect(Flash<Word>(text: text) == nil, "\(text)")
        }
    }
}
