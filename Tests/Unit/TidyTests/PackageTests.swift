import FoundationEssentials
import Repository
import Testing

/// The Debian package and what it is made of: the libraries, the control file, the scripts and the units.
@Suite struct PackageTests {
    /// A row of `config/debian/libraries`.
    private struct Library: Hashable {
        var name: Substring
        var package: Substring
        var isLinked: Bool
        /// The package that the build needs, or nil if every compiler brings it.
        var development: Substring?
    }

    private static func text(_ path: String) throws -> String {
        String(
            decoding: try #require(FileManager.default.contents(atPath: Repository.path(path)), "\(path)"),
            as: UTF8.self)
    }

    private static func libraries() throws -> [Library] {
        try text("config/debian/libraries").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { row in
            let words = row.split(separator: " ")
            try #require(words.count == 4 && ["always", "configured"].contains(words[2]), "\(row)")
            return Library(
                name: words[0], package: words[1], isLinked: words[2] == "always",
                development: words[3] == "-" ? nil : words[3])
        }
    }

    /// The words that begin with `lib` between two texts of a file.
    private static func packages(in path: String, from start: String, to end: String) throws -> Set<String> {
        let text = try text(path)
        let begin = try #require(text.firstRange(of: start), "\(path): \(start)").upperBound
        let part = text[begin...]
        let stop = try #require(part.firstRange(of: end), "\(path): \(end)").lowerBound
        return Set(part[..<stop].matches(of: #/\blib[a-z0-9+.-]*(?:[0-9]|-dev)(?![a-z0-9-])/#).map { String($0.0) })
    }

    // MARK: Libraries

    @Test("the libraries are those for which the manifest and the set-up install what the build needs")
    func development() throws {
        let listed = Set(try Self.libraries().compactMap(\.development).map(String.init))
        let manifest = try Self.text("Package.swift").matches(of: #/\.apt\(\["([^"]+)"\]\)/#).map { String($0.1) }
        #expect(Set(manifest) == listed)
        #expect(try Self.packages(in: ".ci/setup", from: "packages=(", to: ")") == listed)
        #expect(try Self.packages(in: "docker/Dockerfile", from: "AS build", to: "pkg-config") == listed)
    }

    @Test("a library that a module links is loaded always, and one that it opens by name is not")
    func loading() throws {
        let libraries = try Self.libraries()
        var linked: Set<String> = []
        var opened: Set<String> = []
        for module in try Manual.names(in: "Sources/Libraries") {
            for file in try Manual.files(in: "Sources/Libraries/\(module)", "") {
                guard file.hasSuffix(".h") || file.hasSuffix(".modulemap") else { continue }
                let text = try Self.text(file)
                linked.formUnion(text.matches(of: #/link "([a-z0-9]+)"/#).map { "lib\($0.1).so" })
                opened.formUnion(text.matches(of: #/dlopen\("([^"]+)"/#).map { String($0.1) })
            }
        }
        #expect(Set(libraries.filter { !$0.isLinked }.map { String($0.name) }) == opened)
        let names = libraries.filter(\.isLinked).map { String($0.name.replacing(#/\.so\.[0-9]+$/#, with: ".so")) }
        #expect(Set(names).isSuperset(of: linked))
        // What remains belongs to the compilers.
        #expect(Set(names).subtracting(linked) == ["libstdc++.so", "libgcc_s.so", "libm.so", "libc.so"])
    }

    @Test("the image and the manual name the same packages")
    func imageAndManual() throws {
        // A root of Debian has these always.
        let essential: Set = ["libc6", "libgcc-s1", "libcrypt1"]
        let listed = Set(try Self.libraries().map { String($0.package) }).subtracting(essential)
        #expect(
            try Self.packages(in: "docker/Dockerfile", from: "FROM debian:", to: "rm -rf")
                == listed)
        let page = "Sources/sojourn/Sojourn.docc/Operating/Installing.md"
        #expect(try Self.packages(in: page, from: "## What the machine needs", to: "\n## ") == listed)
    }

    // MARK: The package

    @Test("the control file has each field once, and what is opened by name is recommended, not demanded")
    func control() throws {
        let lines = try Self.text("config/debian/control").split(separator: "\n")
        let fields = lines.filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
        #expect(
            fields == [
                "Package", "Version", "Architecture", "Maintainer", "Installed-Size", "Depends", "Recommends",
                "Section",
                "Priority", "Description",
            ])
        #expect(lines.contains("Depends: adduser, @DEPENDS@"))
        #expect(lines.contains("Recommends: ca-certificates, @RECOMMENDS@"))
        for library in try Self.libraries() where !library.isLinked {
            #expect(lines.contains { $0.hasPrefix(" ") && $0.contains(library.package) }, "\(library.package)")
        }
        let script = try Self.text(".ci/package")
        for mark in lines.flatMap({ $0.matches(of: #/@[A-Z]+@/#).map(\.0) }) {
            #expect(script.contains("s/\(mark)/"), "\(mark)")
        }
    }

    @Test("no script of the package enables or starts a unit, and each stops at its first error")
    func scripts() throws {
        for name in ["postinst", "prerm", "postrm"] {
            let script = try Self.text("config/debian/\(name)")
            let code = script.split(separator: "\n").filter { !$0.contains(#/^ *#/#) }
            #expect(script.hasPrefix("#!/bin/sh\n"), "\(name)")
            #expect(code.first == "set -e", "\(name)")
            for line in code {
                let words = line.split(whereSeparator: \.isWhitespace)
                #expect(
                    Set(words).isDisjoint(with: ["enable", "start", "restart", "--now", "userdel", "deluser"]),
                    "\(name): \(line)")
                #expect(!line.contains("rm -rf"), "\(name): \(line)")
            }
        }
    }

    @Test("each line that the packaging replaces in the units and the configuration is there")
    func replacements() throws {
        let script = try Self.text(".ci/package")
        for (path, text) in [
            (
                "config/sojourn.service",
                "ExecStart=/usr/local/bin/sojourn serve --config /etc/sojourn/sojourn.json5 --wait 10m\n"
            ),
            ("config/sojourn.service", "\n[Unit]\n"), ("config/sojourn.socket", "\n[Unit]\n"),
            ("config/sojourn.json5", "url: \"sqlite:sojourn.sqlite\",\n"),
        ] {
            #expect(try Self.text(path).contains(text), "\(path): \(text)")
        }
        for word in [
            "/usr/local/bin/sojourn", "/etc/sojourn/sojourn.json5", "sqlite:sojourn.sqlite", "ConditionPathExists=",
        ] {
            #expect(script.contains(word), "\(word)")
        }
        let unit = try Self.text("config/sojourn.service").split(separator: "\n")
        for line in ["User=sojourn", "StateDirectory=sojourn", "StateDirectoryMode=0700"] {
            #expect(unit.contains(Substring(line)), "\(line)")
        }
        let postinst = try Self.text("config/debian/postinst")
        #expect(postinst.contains("install -d -m 0700 -o sojourn -g sojourn /var/lib/sojourn\n"))
    }

    @Test("package, unit and manual have one place for the configuration")
    func place() throws {
        let manual = try Manual.all().map(\.path)
        for path in ["config/sojourn.service", "docker/compose.yaml", "docker/Dockerfile", ".ci/package"] + manual {
            for match in try Self.text(path).matches(of: #/\/etc\/[^ `"',:;)]*\.(json5|env)/#) {
                #expect(match.output.0.hasPrefix("/etc/sojourn/sojourn."), "\(path): \(match.output.0)")
            }
        }
    }

    @Test("neither the unit nor a container of ours may write a core file")
    func coreFiles() throws {
        #expect(try Self.text("config/sojourn.service").contains("\nLimitCORE=0\n"))
        let compose = try Self.text("docker/compose.yaml")
        let hardened = try #require(compose.split(separator: "\n\n").first { $0.contains("x-hardened: &hardened") })
        #expect(hardened.contains("\n  ulimits:\n") && hardened.contains("\n    core: 0"))
        // Each container that runs the server is hardened: by name, or as a node.
        for name in ["x-node: &node", "  sojourn:"] {
            #expect(compose.contains("\(name)\n    <<: *hardened") || compose.contains("\(name)\n  <<: *hardened"))
        }
    }

    @Test("the copyright file and the bill of materials name the list of passwords and its licence")
    func origins() throws {
        for (path, licence) in [("config/debian/copyright", "License: Expat"), (".ci/spdx", "licence(\"MIT\")")] {
            let text = try Self.text(path)
            #expect(text.contains("config/common-passwords.txt"), "\(path)")
            #expect(text.contains("Dan Wheeler and Dropbox, Inc."), "\(path)")
            #expect(text.contains(licence), "\(path)")
        }
    }
}
