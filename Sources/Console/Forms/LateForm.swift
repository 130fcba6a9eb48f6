public import AdminActs
public import JSON
internal import Pages

/// What a form was filled with when it was shown. A form that comes back after another admin's change would undo that change.
public struct FormMark: Hashable, Sendable {
    /// The name of the hidden field.
    static let name = "was"

    /// The values of the members.
    public let values: [String: JSONValue]

    init(_ values: [String: JSONValue]) { self.values = values }

    /// The mark in a form that was sent; nil without one. A mark that cannot be read is that of no form.
    private init?(in form: FormValues) {
        guard let text = form[Self.name] else { return nil }
        values = (try? StrictJSON.object(Array(text.utf8))) ?? [:]
    }

    /// The hidden field.
    var field: ConsoleField { .hidden(Self.name, JSONValue.object(values).compactText ?? "") }

    /// What a form was filled with, if that is something else; nil if nothing has changed since.
    public func earlier(in form: FormValues) -> FormMark? {
        FormMark(in: form).flatMap { $0 == self ? nil : $0 }
    }

    /// What the page then says.
    public static let notice: ConsoleNotice = (
        .bad,
        """
        Another admin has made a change since this page was shown, so nothing has happened. What you typed is kept; beside it \
        stands what is stored now.
        """
    )
}

/// A form that has every member of an object.
public protocol WholeForm: Sendable {
    /// The names of the members.
    static var names: [String] { get }
    /// The text of each member.
    var texts: [String: String] { get set }
    /// The form that shows members of the admin API.
    init(_ members: [String: JSONValue])
    /// The value of a member; nil for none. Throws the sentence for a text that cannot be read.
    func value(of name: String) throws(CallRefusal) -> JSONValue?
}

extension WholeForm {
    /// This form, which was filled with `mark`, after another admin has stored something else. A field that was left as it was shows
    /// what is stored now. The notes name the other value beside each field, by its name.
    public func late(_ mark: FormMark, stored: Self) -> (form: Self, notes: [String: String]) {
        let shown = Self(mark.values)
        var (form, notes) = (self, [String: String]())
        for name in Self.names {
            let (typed, before, now) = (comparable(name), shown.comparable(name), stored.comparable(name))
            if typed == now {
                continue
            } else if typed == before {
                form.texts[name] = stored.texts[name]
                notes[name] = "Changed meanwhile. Before: \(shown.words(of: name))"
            } else {
                notes[name] = "Stored now: \(stored.words(of: name))"
            }
        }
        return (form, notes)
    }

    private func comparable(_ name: String) -> JSONValue {
        do throws(CallRefusal) { return try value(of: name) ?? .null } catch { return .string(texts[name] ?? "") }
    }

    /// The value of a member as a sentence has it.
    func words(of name: String) -> String {
        switch comparable(name) {
        case .bool(let isOn): isOn ? "ticked" : "not ticked"
        case .array(let elements) where !elements.isEmpty: elements.compactMap(\.string).joined(separator: ", ")
        default: texts[name].flatMap { $0.isEmpty ? nil : $0 } ?? "nothing"
        }
    }
}
