internal import Calendar

/// The parts that forms consist of.
enum Controls {
    /// The beginning of a form up to its hidden fields.
    static func form(
        _ action: PagePath, _ state: FormState, _ content: HTML, id: String? = nil, hasFile: Bool = false
    ) -> HTML {
        """
        <form method="post" action="\(action)"\(attribute: "id", id)\
        \(attribute: "enctype", hasFile ? "multipart/form-data" : nil)>
        <input type="hidden" name="\(FormField.csrf)" value="\(state.csrf(action))">
        \(state.request.map { "<input type=\"hidden\" name=\"\(FormField.request)\" value=\"\($0)\">\n" as HTML })\
        \(state.isShownAgain ? hidden(.again, "1") + "\n" : nil)\
        \(content)
        </form>

        """
    }

    /// A hidden field.
    static func hidden(_ field: FormField, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(field)\" value=\"\(value)\">"
    }

    /// A box to tick.
    static func checkbox(
        _ field: FormField, _ label: String, isOn: Bool = false, isRequired: Bool = false
    ) -> HTML {
        """
        <label class="check"><input type="checkbox" name="\(field)" value="1"\(attribute: "checked", if: isOn)\
        \(attribute: "required", if: isRequired)> \
        <span>\(label)</span></label>
        """
    }

    /// One of several choices.
    static func radio(_ field: FormField, _ value: String, _ label: String, isOn: Bool = false) -> HTML {
        """
        <label class="check"><input type="radio" name="\(field)" value="\(value)"\(attribute: "checked", if: isOn)> \
        <span>\(label)</span></label>
        """
    }

    /// The button that submits a form.
    static func button(_ label: String, _ look: Look = .primary) -> HTML {
        "<button class=\"\(look.rawValue)\">\(label)</button>"
    }

    /// A button that sends a value of its own.
    static func button(_ field: FormField, _ value: String, _ label: String, _ look: Look) -> HTML {
        "<button class=\"\(look.rawValue)\" name=\"\(field)\" value=\"\(value)\">\(label)</button>"
    }

    /// The look of a button.
    enum Look: String {
        case primary, secondary, danger
    }

    /// What the developers of an app need to know, closed at first.
    static func details(_ detail: String?, _ requestID: String?, _ words: any Words) -> HTML {
        """
        <details><summary>\(words.forDevelopers)</summary>
        \(detail.map { "<p lang=\"en\">\(DisplayName($0, max: 300))</p>\n" as HTML })\
        \(requestID.map { "<p>\(words.requestID): <code>\(DisplayName($0))</code></p>\n" as HTML })</details>

        """
    }

    static func link(_ path: PagePath, _ label: String) -> HTML { "<a href=\"\(path)\">\(label)</a>" }

    /// A link that looks like a button.
    static func linkButton(_ url: PageURL, _ label: HTML, _ look: Look = .primary) -> HTML {
        "<a class=\"button \(look.rawValue)\" href=\"\(url)\">\(label)</a>"
    }

    /// The line between two ways to go on.
    static func or(_ words: any Words) -> HTML { "<p class=\"or\"><span>\(words.or)</span></p>\n" }

    /// A time as it is read, with its exact value for programs. `page.js` shows it in the time zone of the browser.
    static func time(_ seconds: Int64, _ words: any Words) -> HTML {
        let time = UTCTime(secondsSinceEpoch: seconds)
        return "<time datetime=\"\(time.rfc3339)\">\(words.dateAndTime(time))</time>"
    }

    /// The end of a session: the day, and its hour if it is not far from now.
    static func end(_ seconds: Int64, asOf now: Int64, _ words: any Words) -> HTML {
        seconds - now < 2 * 86_400 ? time(seconds, words) : day(seconds, words)
    }

    /// A day as it is read.
    static func day(_ seconds: Int64, _ words: any Words) -> HTML {
        let time = UTCTime(secondsSinceEpoch: seconds)
        return "<time datetime=\"\(time.rfc3339)\" class=\"day\">\(words.date(time.date))</time>"
    }
}

/// A sentence above a form: what went wrong or what was done.
struct Notice {
    enum Kind: String {
        case error, success, note
    }

    let kind: Kind
    let text: HTML
    /// False: the page can have another notice, which its fields refer to.
    var hasID = true

    /// The id that fields refer to with `aria-describedby`.
    static let id = "notice"

    var html: HTML {
        """
        <p class="notice \(kind.rawValue)"\(attribute: "id", hasID ? Self.id : nil) \
        role="\(kind == .error ? "alert" : "status")">\(text)</p>

        """
    }
}

/// A field with its label.
struct TextField {
    let field: FormField
    let label: String
    var type = "text"
    var value: String?
    var autocomplete: String?
    var hint: String?
    /// What the notice above the form is about: the field is invalid, described by the notice, and has the focus.
    var isWrong = false
    var isRequired = true
    var hasFocus = false
    var minLength: Int?
    /// For digits: the keyboard of a phone shows these.
    var isNumber = false
    /// For codes: capitals, no correction.
    var isCode = false
    /// The label of a button that shows the password; it needs script, and is hidden without.
    var shows: String?

    private var describedBy: String? {
        let ids = [isWrong ? Notice.id : nil, hint == nil ? nil : field.rawValue + "-hint"].compactMap(\.self)
        return ids.isEmpty ? nil : ids.joined(separator: " ")
    }

    var html: HTML {
        """
        <div class="field\(shows == nil ? "" : " peek")" id="\(field)-field"><label for="\(field)">\(label)</label>
        <input id="\(field)" name="\(field)" type="\(type)"\(attribute: "value", value)\
        \(attribute: "autocomplete", autocomplete)\(attribute: "minlength", minLength.map { String($0) })\
        \(attribute: "autocapitalize", isCode ? "characters" : type == "text" ? "none" : nil)\
        \(attribute: "inputmode", isNumber ? "numeric" : nil)\(attribute: "spellcheck", type == "text" ? "false" : nil)\
        \(attribute: "required", if: isRequired)\(attribute: "autofocus", if: isWrong || hasFocus)\
        \(attribute: "aria-invalid", isWrong ? "true" : nil)\(attribute: "aria-describedby", describedBy)\
        \(attribute: "class", isCode ? "code" : nil)>\
        \(shows.map(Self.eye))\(hint.map { "\n<p class=\"hint\" id=\"\(field)-hint\">\($0)</p>" as HTML })</div>

        """
    }

    private static func eye(_ label: String) -> HTML {
        """

        <button type="button" hidden data-shows aria-pressed="false" aria-label="\(label)">\
        <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true">\
        <path d="M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7S2 12 2 12Z"></path><circle cx="12" cy="12" r="3"></circle></svg></button>
        """
    }
}
