internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

// An act is a form that makes one call of the admin API. The call is made from the values of the fields, and the printed commands
// from that call, so that a command does what the form does.

/// The values of the fields of a form: those that were sent, or those with which it is shown.
struct FormValues: Sendable {
    private let value: @Sendable (String) -> String?

    /// The values that were sent.
    init(_ form: FormParameters) { value = { form[$0] } }

    /// The values with which the fields are shown.
    init(_ fields: [ConsoleField]) {
        let values = Dictionary(fields.flatMap(\.values).map { ($0.name, $0.value) }) { first, _ in first }
        value = { name in values[name].flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The value of a field; nil if it is empty.
    subscript(_ name: String) -> String? { value(name) }

    /// Whether a box is ticked.
    func isOn(_ name: String) -> Bool { value(name) == "1" }

    /// The duration that was typed, as JSON; nil if the field is empty.
    func seconds(_ name: String, label: String) throws(ConsoleRefusal) -> JSONValue? {
        guard let text = value(name) else { return nil }
        return .integer(try DurationText.seconds(text, in: label))
    }
}

/// How a form becomes a call. Throws the sentence for a field that cannot be read.
typealias CallMaking = @Sendable (FormValues) throws(ConsoleRefusal) -> ConsoleCall

extension ConsoleView {
    /// An act with its commands; nil if the key may not make its call. It is open, and filled with what was typed, if its form
    /// was just sent and nothing came of it.
    func act(
        _ path: PagePath, _ name: String, label: String, question: ConsoleText, fields: [ConsoleField] = [],
        button: String, isDestructive: Bool = false, command: @Sendable (ConsoleCall) -> String?,
        making call: CallMaking
    ) -> ConsoleAct? {
        guard let untouched = try? call(FormValues(fields)), stay.may(untouched, endpoints) else { return nil }
        var act = ConsoleAct(
            path, name, label: label, question: question, fields: fields, button: button, isDestructive: isDestructive,
            commands: [])
        var made = fields.contains(where: \.isShown) ? nil : untouched
        if let sent = stay.sent, sent["act"] == name, isSame(fields, sent) {
            act.fields = fields.map { $0.filled { sent.value($0) } }
            act.isOpen = true
            if Self.showsCommands(sent) { made = try? call(FormValues(sent)) }
        }
        if let made, made.body?.isEmpty != true { act.commands = [curl(made), command(made)].compactMap(\.self) }
        return act
    }

    /// Whether a form only asks for its commands.
    static func showsCommands(_ form: FormParameters) -> Bool {
        form[ConsoleAct.showsCommands.name] == ConsoleAct.showsCommands.value
    }

    /// Whether a form that was sent is about the same object.
    private func isSame(_ fields: [ConsoleField], _ sent: FormParameters) -> Bool {
        fields.allSatisfy { field in
            guard case .hidden(let name, let value) = field, !name.hasPrefix(FormMark.name) else { return true }
            return (sent.value(name) ?? "") == value
        }
    }
}

extension ConsoleRequest {
    /// Whether the key may make a call.
    func may(_ call: ConsoleCall, _ endpoints: Endpoints) -> Bool {
        key.scope == .owner || endpoints.scope(of: call).map(may) ?? false
    }
}

/// A form that was sent, with the page that is shown again if nothing comes of it.
struct SentAct {
    let page: PagePath
    /// How the form becomes a call; nil: no such act is known.
    let making: CallMaking?
    /// The word that the page says when it is done.
    let word: ([String: JSONValue]) -> String
    /// The page that says it; nil: the same.
    var landing: (([String: JSONValue]) -> PagePath)?
    /// The page, with a sentence above.
    let show: (_ stay: ConsoleRequest, _ notice: (look: ConsoleLook, text: ConsoleText)?) async throws -> ConsolePage
    /// The sentence of a success that stands on the page of this answer alone, because no URL has room for it.
    var own: ([String: JSONValue]) -> (look: ConsoleLook, text: ConsoleText)? = { _ in nil }
}

extension Endpoints {
    /// Makes the call of a form, or shows its commands. A refused form is shown again with what was typed.
    func make(_ act: SentAct, _ form: FormParameters, for stay: ConsoleRequest) async throws -> Response {
        guard let making = act.making else { return Self.redirect(to: stay.path(act.page, saying: "again")) }
        func refused(_ sentence: String) async throws -> Response {
            try await act.show(stay, (.bad, "\(sentence: sentence)")).response(.unprocessable)
        }
        let call: ConsoleCall
        do throws(ConsoleRefusal) { call = try making(FormValues(form)) } catch {
            return try await refused(error.sentence)
        }
        guard let scope = scope(of: call) else { throw ServiceError.notFound("call") }
        guard stay.may(scope) else { return refuse(scope, stay) }
        if call.body?.isEmpty == true { return Self.redirect(to: stay.path(act.page, saying: "same")) }
        if ConsoleView.showsCommands(form) { return try await act.show(stay, nil).response() }
        switch try await attempt(call, for: stay) {
        case .failure(let refusal): return try await refused(refusal.sentence)
        case .success(let answer):
            if let own = act.own(answer) { return try await act.show(stay.withoutForm, own).response() }
            return Self.redirect(to: stay.path(act.landing?(answer) ?? act.page, saying: act.word(answer)))
        }
    }
}
