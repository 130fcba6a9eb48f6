internal import AdminActs
internal import Pages
internal import Sessions

extension ConsoleView {
    /// The mails to users: how many wait, and those that were refused. An address stands here as in the profile of its user.
    func mails(_ mails: MailsOverview) -> ConsoleBlock {
        let counts = mails.counts
        let failure = setting.failure(DeliveryState.mails)
        let columns = ["Kind", "To", "Requested", "Tries", "Reply"]
        var blocks: [ConsoleBlock] = [
            .text("Codes, links and notices to users. Codes go before notices."),
            .table(
                ConsoleTable(
                    "Mails", columns: ["Waiting", "Oldest", "Not tried again", "State"],
                    rows: [
                        [
                            "\(counts.waiting)", counts.oldest.map { time($0) } ?? "", "\(counts.dead)",
                            state(failure?.at, DeliveryState.mails),
                        ]
                    ], empty: "")),
        ]
        if !mails.waiting.isEmpty {
            blocks.append(
                .table(
                    ConsoleTable(
                        "Mails that wait", columns: columns + ["Next try"],
                        rows: mails.waiting.map { row($0) + [$0.dueAt.map { time($0) } ?? ""] }, empty: "")))
        }
        if !mails.dead.isEmpty {
            blocks += [
                .table(
                    ConsoleTable(
                        "Mails that are not tried again", columns: columns, rows: mails.dead.map(row), empty: "")),
                .acts(mails.dead.compactMap(retry)),
            ]
        }
        return .section("Mails", blocks)
    }

    private func row(_ mail: QueuedMail) -> [ConsoleText] {
        [
            "\(code: mail.kind.rawValue)", mail.email.map { "\(name: $0)" } ?? "", time(mail.createdAt),
            "\(mail.tries)",
            mail.reply.map { "\(name: $0)" } ?? "",
        ]
    }

    private func retry(_ mail: QueuedMail) -> ActForm? {
        form(
            RetryMail.self, on: ActSubject(mail.id.description), .consoleDeliveries,
            label: "Try \(mail.kind.rawValue) \(mail.id.description.prefix(8)) again",
            question: "Try this mail again now? The relay has refused it: \(name: mail.reply ?? "without a word").",
            fields: [.hidden("mail", mail.id.description)], button: "Try again")
    }
}
