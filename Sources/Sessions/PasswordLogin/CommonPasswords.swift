internal import CCommonPasswords

/// Recognises common passwords: a list of the most used ones (NIST SP 800-63B-4 section 3.1.1.2), and rules for the patterns
/// that attackers try.
///
/// Rules cover what no finite list can: a repeated character or short piece, rows of the alphabet, the digits or the keyboard,
/// dates, and a few dozen common words with digits and signs after them, also with digits in place of letters.
enum CommonPasswords {
    /// Returns true if the password, folded to lower case, is common.
    static func contains(_ password: String) -> Bool {
        if isListed(password) { return true }
        let characters = Array(password)
        if isRepeated(characters) || isRow(characters) || isDate(characters) { return true }
        return cores(of: characters).contains { core in words.contains(core) || isRow(Array(core)) && core.count > 3 }
    }

    /// The list: lines, sorted by their bytes. The search runs on the program's mapped file, so that no memory holds a copy.
    static var list: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: CCommonPasswords_list(), count: CCommonPasswords_length())
    }

    private static func isListed(_ password: String) -> Bool {
        let list = list
        let newline = UInt8(ascii: "\n")
        var (low, high) = (0, list.count)
        while low < high {
            let middle = low + (high - low) / 2
            let start = (list[low..<middle].lastIndex(of: newline) ?? low - 1) + 1
            guard let end = list[start..<high].firstIndex(of: newline) else { return false }
            let line = list[start..<end]
            if line.elementsEqual(password.utf8) { return true }
            if line.lexicographicallyPrecedes(password.utf8) { low = end + 1 } else { high = start }
        }
        return false
    }

    /// `aaaaaaaa`, `abcabcabc`, `12341234`: a repeated piece of at most four characters.
    private static func isRepeated(_ characters: [Character]) -> Bool {
        (1...4).contains { size in
            characters.count >= size * 2
                && characters.indices.allSatisfy { characters[$0] == characters[$0 % size] }
        }
    }

    /// `12345678`, `87654321`, `abcdefgh`, `qwertyuiop`: a piece of a row, or two such pieces.
    private static func isRow(_ characters: [Character]) -> Bool {
        func piece(_ part: ArraySlice<Character>) -> Bool {
            part.count > 2 && (rows.contains { $0.contains(String(part)) })
        }
        if piece(characters[...]) { return true }
        guard characters.count > 5 else { return false }
        return (3...characters.count - 3).contains { piece(characters[..<$0]) && piece(characters[$0...]) }
    }

    /// Eight digits that form a date of this or the last century, year first or last.
    private static func isDate(_ characters: [Character]) -> Bool {
        guard characters.count == 8, characters.allSatisfy({ ("0"..."9").contains($0) }) else { return false }
        func number(_ range: Range<Int>) -> Int { Int(String(characters[range])) ?? 0 }
        func isDay(_ year: Range<Int>, _ one: Range<Int>, _ two: Range<Int>) -> Bool {
            guard (1900...2099).contains(number(year)) else { return false }
            let (one, two) = (number(one), number(two))
            return (1...12).contains(min(one, two)) && min(one, two) > 0 && (1...31).contains(max(one, two))
        }
        return isDay(0..<4, 4..<6, 6..<8) || isDay(4..<8, 0..<2, 2..<4)
    }

    /// The password without the digits and signs around it, once unchanged and once with letters for look-alike digits.
    private static func cores(of characters: [Character]) -> Set<String> {
        func trimmed(_ characters: [Character]) -> String {
            let front = characters.drop { !$0.isLetter }
            return String(front.reversed().drop { !$0.isLetter }.reversed())
        }
        let letters: [Character: Character] = [
            "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i",
        ]
        let isTail = { (character: Character) in !character.isLetter }
        let tail = characters.reversed().prefix(while: isTail).count
        // The digits after the word are not replaced, because there they are digits.
        let spelled = characters.dropLast(tail).map { letters[$0] ?? $0 }
        var cores: Set = [trimmed(characters), trimmed(spelled), trimmed(characters.map { letters[$0] ?? $0 })]
        for core in cores {
            // `lovelove`: a word twice.
            let half = core.prefix(core.count / 2)
            if half + half == core { cores.insert(String(half)) }
        }
        return cores
    }

    private static let rows: [String] = {
        let rows = [
            "01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop",
            "yxcvbnm",
            "azertyuiop", "qsdfghjklm", "wxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm", "qazwsxedcrfvtgbyhnujm",
            "1q2w3e4r5t6y7u8i9o0p",
            "q1w2e3r4t5y6u7i8o9p0", "!@#$%^&*()", "147258369", "159357", "987654321", "135792468",
        ]
        return rows + rows.map { String($0.reversed()) }
    }()

    private static let words: Set<String> = Set(
        """
        password passwort passwd passwordpassword motdepasse contrasena contraseña senha wachtwoord parola haslo heslo lozinka
        pass secret geheim admin administrator root user guest login logon access welcome willkommen bienvenue hello hallo
        bonjour letmein openme opensesame changeme default temp temporary test tester testing demo sample example master
        superuser system computer internet server network database google facebook amazon microsoft apple samsung iphone android
        windows linux monkey dragon tiger lion eagle falcon phoenix panther dolphin shadow ninja pirate wizard knight
        warrior hunter killer batman superman spiderman pokemon starwars football fussball soccer baseball basketball hockey
        tennis golf chelsea arsenal liverpool barcelona realmadrid juventus bayern sunshine rainbow flower butterfly princess
        prince queen king angel baby honey sweet sweetheart love iloveyou iloveu loveyou lovely ichliebedich schatz amor
        teamo family mother father mommy daddy michael michelle jessica jennifer daniel thomas andrew robert charlie jordan
        ashley amanda nicole anthony george maria anna peter hannah matthew summer winter spring autumn sommer monday friday
        january february march april june july august september october november december london paris berlin madrid germany
        america canada france england australia freedom liberty money lucky happy smile cookie chocolate cheese banana orange
        pepper ginger coffee whatever nothing nobody trustno trustnoone matrix mustang ferrari porsche mercedes yamaha harley
        guitar music blink mypassword newpassword yourpassword password1 thepassword mypass blahblah asdf qwer zxcv qwerty
        qwertz azerty asdfgh zxcvbn qazwsx abc abcd abcde
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
