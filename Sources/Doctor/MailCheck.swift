internal import Configuration
internal import Deliveries
internal import HTTP
internal import HTTPClient
internal import Mail
internal import Server
internal import Sockets

/// The checks of the mails to users.
enum MailCheck {
    private static let check = "mail"

    /// The way of mails. A relay is asked, and gets no mail.
    static func finding(_ configuration: ServerConfiguration, _ environment: Environment) async -> Finding? {
        guard configuration.mails.areSent else { return nil }
        let setting: MailSetting
        do throws(StartError) {
            guard let found = try configuration.mailSetting(environment, issuer: configuration.ownURL) else {
                return nil
            }
            setting = found
        } catch { return Finding(.fail, check, error.description) }
        let from = setting.templates.from
        guard let probe = await MailProbe.look(at: setting) else {
            return Finding(
                .ok, check, "mails go to a program, which sees their codes: test it by 'sojourn mail test ADDRESS'")
        }
        let relay = configuration.mails.relay ?? ""
        if probe.isTaken {
            return Finding(
                .ok, check,
                "\(relay) takes mails from \(from.address); see that its servers may send for the domain: dig TXT "
                    + "\(from.domain) (SPF), dig TXT _dmarc.\(from.domain), and the DKIM key that the relay signs with")
        }
        return Finding(
            .fail, check, "\(relay) takes no mail: \(probe.sentence)" + (probe.hint.map { "; \($0)" } ?? ""))
    }

    /// The mails of a running server, by its metrics.
    static func findings(_ configuration: ServerConfiguration, of server: SocketAddress) -> [Finding] {
        guard configuration.mails.areSent, let answer = try? HTTPExchange.send(Request(.get, "/metrics"), to: server)
        else { return [] }
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        func value(_ name: String) -> Int64 {
            let line = lines.first { $0.hasPrefix(name + " ") }
            return line.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }.map { Int64($0) } ?? 0
        }
        return findings(
            dead: value("sojourn_mails_dead"), failingSeconds: value("sojourn_mail_failing_seconds"),
            isFull: value("sojourn_mail_hour_full") > 0)
    }

    /// What is to be said of these figures.
    static func findings(dead: Int64, failingSeconds: Int64, isFull: Bool) -> [Finding] {
        var findings: [Finding] = []
        if failingSeconds > 60 {
            findings.append(
                Finding(
                    .warn, "mails",
                    "no mail was accepted for \(failingSeconds / 60) minutes: the console's page Deliveries says why"))
        }
        if dead > 0 {
            findings.append(
                Finding(.warn, "mails", "\(dead) mails were refused: see 'sojourn mail list --dead'"))
        }
        if isFull {
            findings.append(
                Finding(
                    .warn, "mails",
                    "notices wait, because this hour has more mails than mail.per_hour allows: is something abused?"))
        }
        return findings
    }
}
