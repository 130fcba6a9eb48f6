// Mail: the mails of the server, from a text in a language to the bytes that a relay gets.
//
// This module owns the texts of every kind of mail in the languages that are built in, the two constructs of templates, the one
// HTML layout, and the form of a message (RFC 5322, 2045, 2047). It must not know relays, webhooks, the outbox, files and keys:
// codes and links are passed to it.
//
// Reading order: MailTexts (the texts of a language) with EnglishMails and GermanMails, MailTemplate and MailVariable, MailFacts
// (what fills them), MailLayout (HTML), MailMessage with MailAddress, QuotedPrintable and EncodedWord.
