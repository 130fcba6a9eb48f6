"""Verifies a message with the library of Standard Webhooks: SECRET ID TIMESTAMP SIGNATURE, the content as input."""

import sys

from standardwebhooks import Webhook

secret, *values = sys.argv[1:]
names = ("webhook-id", "webhook-timestamp", "webhook-signature")
print(Webhook(secret).verify(sys.stdin.buffer.read(), dict(zip(names, values)))["type"])
