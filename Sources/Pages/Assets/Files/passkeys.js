// Makes a passkey for the account, and tells the browser which passkeys the account has.
const form = document.getElementById("add-passkey");
const button = form?.querySelector("[data-options]") ?? form?.querySelector("button");
const known = globalThis.PublicKeyCredential;

async function add(options) {
  // A new account may ask for a username, and for a password that it does not need beside a passkey.
  if (form.elements.username?.reportValidity() === false) return;
  try {
    const publicKey = known.parseCreationOptionsFromJSON(options);
    form.elements.credential.value = JSON.stringify(await navigator.credentials.create({ publicKey }));
    form.noValidate = true;
    form.requestSubmit();
  } catch (error) {
    // Cancelled, or not for this address; or the device has a passkey of the account.
    document.getElementById("passkey-here")?.toggleAttribute("hidden", error.name !== "InvalidStateError");
  }
}

if (form && known?.parseCreationOptionsFromJSON) {
  button.closest("[hidden]").hidden = false;
  document.getElementById("no-passkeys")?.remove();
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
