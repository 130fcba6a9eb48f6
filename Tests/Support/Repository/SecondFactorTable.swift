import FoundationEssentials

/// The manual's table of when a login with a phone takes a second factor, with which the server and the fake one are compared.
public struct SecondFactorTable {
    /// One combination of what the table has columns for.
    public struct Case: Hashable, Sendable, CustomStringConvertible {
        /// Whether the code came as a link, with no digits to compare.
        public var isLink: Bool
        /// Whether a phone of the user has let the device in before.
        public var isKnown: Bool
        /// Whether the app of the phone demands a second factor.
        public var appDemands: Bool
        /// `second_factor` of the request; nil: absent.
        public var request: String?
        /// Whether the last proof of presence is too old.
        public var isDue: Bool

        /// Every combination.
        public static let all: [Case] = [false, true].flatMap { isLink in
            [false, true].flatMap { isKnown in
                [false, true].flatMap { appDemands in
                    [nil, "required", "not_required"].flatMap { request in
                        [false, true].map {
                            Case(
                                isLink: isLink, isKnown: isKnown, appDemands: appDemands, request: request, isDue: $0)
                        }
                    }
                }
            }
        }

        /// The cells of the table that fit it.
        public var description: String { words.joined(separator: " | ") }

        fileprivate var words: [String] {
            [
                isLink ? "link" : "picture", isKnown ? "known" : "unknown", appDemands ? "demands it" : "",
                request ?? "none", isDue ? "too old" : "recent",
            ]
        }
    }

    /// A table that cannot be read, or that says nothing of a combination.
    public struct Problem: Error {
        let text: String
    }

    private let rows: [[String]]

    /// Reads the table below its heading in the page on logins with a phone.
    public init() throws {
        let path = "Sources/sojourn/Sojourn.docc/Apps/PhoneLogin/PhoneLogins.md"
        let text = String(decoding: try Data(contentsOf: Repository.root.appending(path: path)), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let heading = lines.firstIndex(of: "### When it is asked for") else { throw Problem(text: "no heading") }
        let table = lines[heading...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        rows = table.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { cell in
                let bare = cell.drop { $0 == " " }
                return String(bare.reversed().drop { $0 == " " }.reversed()).replacing("`", with: "")
            }
        }
        guard rows.count > 3, rows.allSatisfy({ $0.count == 6 }) else { throw Problem(text: "no table: \(rows)") }
    }

    /// Whether the first row that fits asks for a second factor. An empty cell fits everything.
    public func asks(_ row: Case) throws -> Bool {
        let fitting = rows.first { cells in
            zip(cells, row.words).allSatisfy { cell, word in
                cell.isEmpty || cell.split(separator: ",").contains { $0.drop { $0 == " " } == word }
            }
        }
        switch fitting?.last {
        case "asked": return true
        case "left out": return false
        default: throw Problem(text: "no row for \(row)")
        }
    }
}
