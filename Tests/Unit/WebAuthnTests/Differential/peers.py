"""What the Python packages webauthn (py_webauthn) and fido2 (python-fido2) make of registrations and assertions.

Each line of standard input is a ceremony as JSON, with binary values in hexadecimal: `kind`, `challenge`, `id`,
`clientDataJSON`, and `attestationObject`, or `authenticatorData`, `signature` and `publicKey`. Each line of output is a
JSON object with what each package says: an empty text if it accepts, else its error.
"""

import json
import sys

from fido2.cose import CoseKey
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData, PublicKeyCredentialRpEntity,
    PublicKeyCredentialType, PublicKeyCredentialParameters, UserVerificationRequirement)
from fido2.webauthn import AuthenticationResponse, AuthenticatorAssertionResponse, RegistrationResponse
from fido2.webauthn import AuthenticatorAttestationResponse
from fido2.utils import websafe_encode
from webauthn import verify_authentication_response, verify_registration_response
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AuthenticationCredential, AuthenticatorAssertionResponse as WebAuthnAssertion,
    AuthenticatorAttestationResponse as WebAuthnAttestation, RegistrationCredential)

RP_ID, ORIGIN = "example.org", "https://example.org"
ALGORITHMS = [-7, -8, -257]


def with_webauthn(line, field):
    algorithms = [COSEAlgorithmIdentifier(number) for number in ALGORITHMS]
    identifier = field("id")
    if line["kind"] == "registration":
        verify_registration_response(
            credential=RegistrationCredential(
                id=websafe_encode(identifier), raw_id=identifier,
                response=WebAuthnAttestation(
                    client_data_json=field("clientDataJSON"), attestation_object=field("attestationObject"))),
            expected_challenge=field("challenge"), expected_rp_id=RP_ID, expected_origin=ORIGIN,
            require_user_verification=True, supported_pub_key_algs=algorithms)
    else:
        verify_authentication_response(
            credential=AuthenticationCredential(
                id=websafe_encode(identifier), raw_id=identifier,
                response=WebAuthnAssertion(
                    client_data_json=field("clientDataJSON"), authenticator_data=field("authenticatorData"),
                    signature=field("signature"))),
            expected_challenge=field("challenge"), expected_rp_id=RP_ID, expected_origin=ORIGIN,
            credential_public_key=field("publicKey"), credential_current_sign_count=0, require_user_verification=True)


def with_fido2(line, field):
    server = Fido2Server(PublicKeyCredentialRpEntity(id=RP_ID, name="Example"))
    server.allowed_algorithms = [
        PublicKeyCredentialParameters(type=PublicKeyCredentialType.PUBLIC_KEY, alg=number) for number in ALGORITHMS]
    state = {
        "challenge": websafe_encode(field("challenge")),
        "user_verification": UserVerificationRequirement.REQUIRED,
    }
    identifier = field("id")
    client_data = CollectedClientData(field("clientDataJSON"))
    if line["kind"] == "registration":
        data = server.register_complete(
            state,
            RegistrationResponse(
                raw_id=identifier,
                response=AuthenticatorAttestationResponse(
                    client_data=client_data, attestation_object=AttestationObject(field("attestationObject")))))
        # The key is looked at when it is used.
        if data.credential_data.public_key.ALGORITHM not in ALGORITHMS:
            raise ValueError("algorithm")
    else:
        known = AttestedCredentialData.create(bytes(16), identifier, CoseKey.parse(decoded(field("publicKey"))))
        server.authenticate_complete(
            state, [known],
            AuthenticationResponse(
                raw_id=identifier,
                response=AuthenticatorAssertionResponse(
                    client_data=client_data, authenticator_data=AuthenticatorData(field("authenticatorData")),
                    signature=field("signature"))))


def decoded(data):
    from fido2 import cbor
    return cbor.decode(data)


def said(check, line):
    try:
        check(line, lambda name: bytes.fromhex(line[name]))
        return ""
    except Exception as error:
        return (type(error).__name__ + " " + str(error))[:120]


for text in sys.stdin:
    entry = json.loads(text)
    print(json.dumps({"webauthn": said(with_webauthn, entry), "fido2": said(with_fido2, entry)}))
