// Notifications: webhooks, which report the events of the audit trail to other programs, logout tokens, which tell clients that
// sessions have ended, pings, which tell them that requested logins have a result, and security events (OpenID SSF), which
// tell receivers what happened to users.
//
// This module owns the order, the repetition and the signature of messages, their content, and the probe of
// `sojourn webhook test`. Logout tokens and security events are signed by `Sessions`. It must not know the configuration file, nor
// where secrets and geo databases are kept: the server passes a `WebhookTarget` and a function that locates addresses.
//
// Reading order: WebhookTarget and WebhookEvents (what is sent, and to which receiver), Webhook (when), WebhookMessage
// (the content), WebhookProbe; then LogoutDeliveries and LogoutDelivery, EventStreamDeliveries and
// EventStreamDelivery; then BackchannelPings.
