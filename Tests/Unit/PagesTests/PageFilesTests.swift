import FoundationEssentials
import PageSamples
import Pages
import Testing

struct PageFilesTests {
    @Test("every page renders in every language; SOJOURN_WRITE_PAGES=FOLDER keeps the documents")
    func pagesRender() throws {
        for language in PageLanguage.builtIn {
            for sample in PageSamples.all() {
                let html = sample.page.html(in: language)
                #expect(html.text.hasPrefix("<!doctype html>\n<html lang=\"\(language.tag)\""))
            }
        }
        if let folder = ProcessInfo.processInfo.environment["SOJOURN_WRITE_PAGES"] {
            try PageSamples.write(to: folder)
        }
    }
}
