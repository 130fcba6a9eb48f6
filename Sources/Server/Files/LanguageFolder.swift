public import Configuration
internal import FoundationEssentials
public import Pages

extension ServerConfiguration {
    /// English, German, and the languages of the folder of the configuration.
    public func pageLanguages() throws(StartError) -> PageLanguages { PageLanguages(try languageFiles().map(\.pages)) }

    /// The files of the folder of languages. Every problem of a file prevents the start.
    func languageFiles() throws(StartError) -> [LanguageFile] {
        guard let folder = languages else { return [] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw .languages(["the folder \(folder) cannot be read"])
        }
        var (found, problems): ([LanguageFile], [String]) = ([], [])
        for name in names.sorted() where name.hasSuffix(LanguageFile.ending) {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            guard let text = FileManager.default.contents(atPath: path) else {
                problems.append("\(path) cannot be read")
                continue
            }
            do throws(LanguageFile.Problems) {
                let file = try LanguageFile(path: path, Array(text))
                if found.contains(where: { $0.pages == file.pages }) {
                    problems.append("\(path): another file has the same language")
                } else {
                    found.append(file)
                }
            } catch { problems += error.lines }
        }
        if !problems.isEmpty { throw .languages(problems) }
        return found
    }
}
