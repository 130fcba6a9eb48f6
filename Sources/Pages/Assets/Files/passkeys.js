// Makes a passkey for the account, and tells the browser which passkeys the account has.
const form = document.getElementById("add-passkey");
const button = form?.querySelector("button");
const known = globalThis.PublicKeyCredential;

async function add(options) {
  try {
    const publicKey = known.parseCreationOptionsFromJSON(options);
    form.elements.credential.value = JSON.stringify(await navigator.credentials.create({ publicKey }));
    form.requestSubmit();
  } catch (error) {
    // Cancelled, or not for this address; or the device has a passkey of the account.
    document.getElementById("passkey-here").hidden = error.name !== "InvalidStateError";
  }
}

if (form && known?.parseCreationOptionsFromJSON) {
  form.parentElement.hidden = false;
  if (button.dataset.options) {
    const options = JSON.parse(button.dataset.options);
    button.addEventListener("click", () => add(options));
    // What was removed here must not be offered by the browser any more.
    known.signalAllAcceptedCredentials?.({
      rpId: options.rp.id, userId: options.user.id,
      allAcceptedCredentialIds: options.excludeCredentials.map(({ id }) => id),
    }).catch(() => {});
  }
}
