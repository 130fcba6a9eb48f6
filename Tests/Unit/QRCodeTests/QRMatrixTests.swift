import QRCode
import Testing

struct QRMatrixTests {
    private static let link = "HTTPS://LOGIN.EXAMPLE.ORG/L/ABCDEFGHIJKLMNOPQRSTUVWXYZ"

    private static let known = [
        "#######..#.##.#######",
        "#.....#..####.#.....#",
        "#.###.#.#.....#.###.#",
        "#.###.#.##....#.###.#",
        "#.###.#.#.###.#.###.#",
        "#.....#.#...#.#.....#",
        "#######.#.#.#.#######",
        "........#..##........",
        "#.#####..#..#.#####..",
        "...#.#.##.#.#..#.##..",
        "..#...##.#.#.#..#####",
        "....#....#.....####..",
        "...######..#.#..#....",
        "........#.#####..##..",
        "#######..##.#.##.....",
        "#.....#.#.#####...#.#",
        "#.###.#.#...#..#.##..",
        "#.###.#.##..#..#.....",
        "#.###.#.#.##.#..#.#..",
        "#.....#........##.##.",
        "#######.####.#..#.#..",
    ]

    private func matrix(_ text: String) throws -> QRMatrix {
        try #require(QRMatrix(text), "\(QRLibrary.problem ?? "")")
    }

    @Test("the example of ISO/IEC 18004, annex I: version 1, level M") func knownCode() throws {
        let matrix = try matrix("01234567")
        let rows = (0..<matrix.width).map { row in
            String((0..<matrix.width).map { matrix[$0, row] ? "#" : "." })
        }
        #expect(rows == Self.known)
    }

    @Test("the capitals of a login's link take a code of version 3, and one of other letters is larger")
    func capitalsAreSmall() throws {
        #expect(try matrix(Self.link).width == 29)
        #expect(try matrix(Self.link.lowercased()).width > 29)
    }

    @Test(
        "three corners have a finder pattern, and the dark module is where the standard has it", arguments: [link, "a"])
    func corners(text: String) throws {
        let matrix = try matrix(text)
        let last = matrix.width - 1
        for (column, row) in [(0, 0), (last - 6, 0), (0, last - 6)] {
            let ring = (0..<7).allSatisfy {
                matrix[column + $0, row] && matrix[column + $0, row + 6] && matrix[column, row + $0]
                    && matrix[column + 6, row + $0]
            }
            #expect(ring && matrix[column + 3, row + 3] && !matrix[column + 1, row + 1])
        }
        #expect(matrix[8, matrix.width - 8])
    }

    @Test("the picture has each module once, with four light ones around") func picture() throws {
        let matrix = try matrix(Self.link)
        let svg = matrix.svg
        #expect(svg.contains(#"viewBox="0 0 37 37""#) && svg.contains(##"<rect width="37" height="37" fill="#fff"/>"##))
        var dark: Set<[Int]> = []
        for run in svg.matches(of: #/M(\d+) (\d+)h(\d+)v1h-(\d+)z/#) {
            let numbers = try [run.1, run.2, run.3, run.4].map { try #require(Int($0)) }
            #expect(numbers[2] == numbers[3])
            for column in numbers[0]..<numbers[0] + numbers[2] { dark.insert([column - 4, numbers[1] - 4]) }
        }
        let expected = (0..<29).flatMap { row in (0..<29).filter { matrix[$0, row] }.map { [$0, row] } }
        #expect(dark == Set(expected))
    }

    @Test(
        "no code has no text, a null in it, or too long a text",
        arguments: ["", "a\0b", String(repeating: "a", count: 4000)])
    func refused(text: String) { #expect(QRMatrix(text) == nil) }
}
