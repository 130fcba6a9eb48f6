"""jwcrypto as the other side of encrypted messages.

decrypt: lines of a private key (PKCS#8 in base64url) and a compact JWE; says `read` with the content, or `refused`.
encrypt: lines of a public key (JWK in base64url) and a content in base64url; says the compact JWE.
"""

import base64
import json
import sys

from cryptography.hazmat.primitives.serialization import load_der_private_key
from jwcrypto.common import JWException
from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decrypt(key, text):
    private = JWK.from_pyca(load_der_private_key(decoded(key), None))
    try:
        message = JWE(algs=["ECDH-ES", "A256GCM"])
        message.deserialize(text, key=private)
        return "read " + encoded(message.payload)
    except JWException:
        return "refused"


def encrypt(key, content):
    public = JWK.from_json(decoded(key).decode())
    header = {"alg": "ECDH-ES", "enc": "A256GCM", "kid": public.thumbprint()}
    message = JWE(decoded(content), protected=json.dumps(header), recipient=public)
    return message.serialize(compact=True)


work = {"decrypt": decrypt, "encrypt": encrypt}[sys.argv[1]]
for line in sys.stdin:
    print(work(*(line.rstrip("\n").split(" "))), flush=True)
