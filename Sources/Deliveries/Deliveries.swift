// Deliveries: webhooks, which report the events of the audit trail to other programs, logout tokens, which tell clients that
// sessions have ended, security events (OpenID SSF), which tell receivers what happened to users, notices, which tell clients
// that requested logins have a result, and mails to users.
//
// This module owns the order, the repetition and the signature of messages, their content, and the probe of
// `sojourn webhook test`. Logout tokens and security events are signed by `Sessions`. It must not know the configuration file, nor
// where secrets and geo databases are kept: the server passes a `WebhookTarget` and a function that locates addresses.
//
// Reading order: DeliverySource (what is sent, and to which receiver), Delivery (when), Receiver; then the three sources,
// WebhookSource with the folder Webhooks, LogoutTokenSource, SecurityEventSource, and ClientDeliveries (the deliveries of all
// clients); then BackchannelNotices, which are due by the row of their login and not by the trail, MailNotices, which queue mails
// to users, and the folder Mails: MailDeliveries (when), MailGate (how many), MailRenderer (what), MailTransport (how).
