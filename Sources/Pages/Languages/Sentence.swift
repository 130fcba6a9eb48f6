internal import Calendar
internal import Texts

/// A sentence of the pages that a language file may have: its key, and its text in a language.
///
/// `Sentence.sections` has one for each requirement of `Words`, several for a requirement that chooses between sentences. A test
/// compares the keys with those that `FileWords` asks for.
struct Sentence: Sendable {
    /// The key in a language file: `sign_in_to`.
    let key: String
    /// The text in a language, with placeholders: `Sign in to {{app}}`.
    let text: @Sendable (any Words) -> String

    init(_ key: String, _ text: @escaping @Sendable (any Words) -> String) { (self.key, self.text) = (key, text) }

    /// A sentence with a number in it.
    init(_ key: String, number name: String, _ text: @escaping @Sendable (any Words, Int) -> String) {
        let number = 987_654_321
        self.init(key) { text($0, number).replacing("\(number)", with: "{{\(name)}}") }
    }

    /// The sentences, as a language file has them: in sections with a title.
    static let sections: [(title: String, sentences: [Sentence])] = [
        ("What several pages say", commonWords),
        ("The login page, the logout and the password reset", loginWords),
        ("The login with a phone", phoneWords),
        ("The pages to which the links of a login with the phone lead", phoneLinkWords),
        ("The pages of devices that are connected by a code", deviceWords),
        ("Error pages", errorWords),
        ("The second step of the login", factorWords),
        ("The pages on which a mailbox is proven", verificationWords),
        ("The account pages", accountWords),
        ("The profile and the end of the account", profileWords),
        ("The history of the account", activityWords),
    ]

    /// Every sentence.
    static let all = sections.flatMap(\.sentences)

    /// The placeholders that a text of each key has to have: those of the English one.
    static let placeholders = Dictionary(
        uniqueKeysWithValues: all.map { ($0.key, (try? TextTemplate($0.text(EnglishWords())))?.placeholders ?? []) })
}

extension DisplayName {
    /// The place of a name in a sentence.
    static func placeholder(_ name: String) -> DisplayName { DisplayName("{{\(name)}}") }
}

extension HTML {
    /// The text of a sentence of the pages. Its markup is the isolation of names.
    var sentence: String {
        var sentence = text.replacing("<bdi>", with: "").replacing("</bdi>", with: "")
        for (reference, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            sentence = sentence.replacing(reference, with: sign)
        }
        return sentence
    }
}

extension Words {
    /// 28 January 2345, because no two of its numbers are in one another.
    private var sampleTime: UTCTime {
        UTCTime(secondsSinceEpoch: (CivilDate.daysSinceEpoch(to: "2345-01-28") ?? 0) * 86_400 + 60 * 60 + 60)
    }

    /// How a date is written.
    var dateSentence: String {
        date(sampleTime.date).replacing("28", with: "{{day}}").replacing(month(1), with: "{{month}}")
            .replacing("2345", with: "{{year}}")
    }

    /// How a date is written with the time of the day.
    var dateAndTimeSentence: String {
        dateAndTime(sampleTime).replacing(date(sampleTime.date), with: "{{date}}").replacing("01:01", with: "{{time}}")
    }
}
